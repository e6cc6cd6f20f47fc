// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The request fields that may be sent to an origin that a redirect has chosen: those that are known to be harmless,
/// and those that the app has declared as safe.
package struct ForwardedFields: Hashable, Sendable {
    /// The fields declared as secret. They are never sent to another origin, even if `declared` contains them.
    package var secret: Set<HTTPField.Name> = []
    /// The fields of the client's configuration. They are sent to the client's origin only, unless `declared` contains
    /// them.
    var home: Set<HTTPField.Name> = []
    /// The fields declared as safe for other origins.
    var declared: Set<HTTPField.Name> = []

    init(
        secret: Set<HTTPField.Name> = [], home: Set<HTTPField.Name> = [], declared: Set<HTTPField.Name> = []
    ) {
        self.secret = secret
        self.home = home
        self.declared = declared
    }

    func allow(_ name: HTTPField.Name) -> Bool {
        if name.isCredential || secret.contains(name) || Self.bound.contains(name) { return false }
        return declared.contains(name) || name.isHarmless && !home.contains(name)
    }

    /// The fields that no declaration can forward, because their values describe the original request (RFC 9110 §15.4).
    private static let bound: Set<HTTPField.Name> = [.host, .origin, .referer]
}
