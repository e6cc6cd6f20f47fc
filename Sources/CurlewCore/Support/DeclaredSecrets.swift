// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The names of secrets that an app and its interceptors declare. Requests and errors carry them, so that their
/// descriptions are redacted.
///
/// A value is one reference, which is nil without declarations.
package struct DeclaredSecrets: ComparedByKey, Sendable {
    private let box: Box?
    /// All values compare equal, so that declarations do not affect the equality of requests and errors.
    var comparisonKey: Bool { true }

    package static let none = DeclaredSecrets(Redaction.Rules())

    package init(_ rules: Redaction.Rules) {
        let says =
            !(rules.secret.isEmpty && rules.harmless.isEmpty && rules.secretMembers.isEmpty
            && rules.secretPaths.isEmpty)
        box = says ? Box(rules) : nil
    }

    package var isEmpty: Bool { box == nil }

    /// The standard redaction with the declarations added.
    package var redaction: Redaction { box?.redaction ?? .standard }

    /// The declarations; nil if there are none.
    package var rules: Redaction.Rules? { box?.rules }

    /// Whether both values come from the same declarations of one client, and not only from equal ones.
    package func isIdentical(to other: DeclaredSecrets) -> Bool { box === other.box }

    /// Returns `redaction` with the declarations added. A redaction that hides nothing is returned unchanged.
    package func added(to redaction: Redaction) -> Redaction {
        guard let box, !redaction.hidesNothing else { return redaction }
        return redaction.adding(box.rules)
    }

    /// Adds the declarations to `headers`, so that descriptions of `headers` redact the declared fields.
    package func declare(in headers: inout HTTPHeaders) {
        guard let rules = box?.rules else { return }
        // Descriptions of headers show the path of a URL and cannot apply path patterns. If there are patterns, fields
        // with URLs are therefore declared as secret.
        var urls: Set<HTTPField.Name> = []
        if !rules.secretPaths.isEmpty {
            urls = Redaction.urlHeaders.union(headers.filter { Redaction.mayHoldURL($0.value) }.map(\.name))
        }
        headers.declare(secret: rules.secret.union(urls), harmless: rules.harmless)
    }

    private final class Box: Sendable {
        let rules: Redaction.Rules
        private let made = Locked<Redaction?>(nil)

        init(_ rules: Redaction.Rules) {
            self.rules = rules
        }

        /// The standard redaction with these rules. Created on first access, because most values are never printed.
        var redaction: Redaction {
            made.withLock { made in
                if let made { return made }
                let redaction = Redaction.standard.adding(rules)
                made = redaction
                return redaction
            }
        }
    }
}
