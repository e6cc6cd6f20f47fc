// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// What an app and its interceptors declare as secret, carried by messages and errors so that each text about them
/// knows it.
///
/// One reference, nil where nothing is declared. Any two are equal: what may be shown of a message is no part of it.
package struct DeclaredSecrets: Hashable, Sendable {
    private let box: Box?

    /// Nothing beyond what Curlew knows.
    package static let none = DeclaredSecrets(FieldRules())

    package init(_ rules: FieldRules) {
        let says =
            !(rules.secret.isEmpty && rules.harmless.isEmpty && rules.secretMembers.isEmpty
            && rules.secretPaths.isEmpty)
        box = says ? Box(rules) : nil
    }

    package var isEmpty: Bool { box == nil }

    /// What is not shown: the standard and what is declared.
    package var redaction: Redaction { box?.redaction ?? .standard }

    /// What was declared; nil for nothing.
    var rules: FieldRules? { box?.rules }

    /// The fields that were declared as secret.
    package var secretFields: Set<HTTPField.Name> { box?.rules.secret ?? [] }

    /// The same for a list of the app's own; one that hides nothing stays so.
    package func added(to redaction: Redaction) -> Redaction {
        guard let box, !redaction.hidesNothing else { return redaction }
        return redaction.adding(box.rules)
    }

    /// Lets descriptions of `headers` know.
    package func declare(in headers: inout HTTPHeaders) {
        guard let rules = box?.rules else { return }
        // What headers show of a URL is its path, and they know no patterns.
        let urls = rules.secretPaths.isEmpty ? [] : Redaction.urlHeaders
        headers.declare(secret: rules.secret.union(urls), harmless: rules.harmless)
    }

    package static func == (left: DeclaredSecrets, right: DeclaredSecrets) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}

    private final class Box: Sendable {
        let rules: FieldRules
        private let made = Locked<Redaction?>(nil)

        init(_ rules: FieldRules) {
            self.rules = rules
        }

        /// Made when first asked for: most values that carry the rules are never shown.
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
