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

    /// The same for a list of the app's own; one that hides nothing stays so.
    package func added(to redaction: Redaction) -> Redaction {
        guard let box, !redaction.hidesNothing else { return redaction }
        return redaction.adding(box.rules)
    }

    /// Lets descriptions of `headers` know.
    package func declare(in headers: inout HTTPHeaders) {
        if let rules = box?.rules { headers.declare(secret: rules.secret, harmless: rules.harmless) }
    }

    package static func == (left: DeclaredSecrets, right: DeclaredSecrets) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}

    private final class Box: Sendable {
        let rules: FieldRules
        let redaction: Redaction

        init(_ rules: FieldRules) {
            self.rules = rules
            redaction = Redaction.standard.adding(rules)
        }
    }
}
