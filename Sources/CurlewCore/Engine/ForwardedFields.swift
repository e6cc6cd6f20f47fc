// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// Which request fields may go to an origin that a redirect has chosen: those that are known to be harmless or were
/// declared, and no others.
package struct ForwardedFields: Hashable, Sendable {
    /// Declared as secret. A secret stays at its origin whatever else is said of it.
    package var secret: Set<HTTPField.Name> = []
    /// Of the client's configuration. They belong to its origin unless they were declared.
    package var home: Set<HTTPField.Name> = []
    /// Declared as safe for other origins.
    package var declared: Set<HTTPField.Name> = []

    package init(
        secret: Set<HTTPField.Name> = [], home: Set<HTTPField.Name> = [], declared: Set<HTTPField.Name> = []
    ) {
        self.secret = secret
        self.home = home
        self.declared = declared
    }

    package func allow(_ name: HTTPField.Name) -> Bool {
        if name.isCredential || secret.contains(name) || Self.bound.contains(name) { return false }
        return declared.contains(name) || name.isHarmless && !home.contains(name)
    }

    /// What no declaration can take along: it says something of the first origin (RFC 9110 §15.4).
    private static let bound: Set<HTTPField.Name> = [.host, .origin, .referer]
}
