// SPDX-License-Identifier: MIT

/// Whether a call goes with a credential, and with which.
public enum AuthenticationChoice: Hashable, Sendable {
    /// Without any, also if there is one. (Not `none`, which means "says nothing" where a choice is optional.)
    case anonymous
    /// With the client's credential if there is one. What a call does that says nothing.
    case optional
    /// With the client's credential; without one the call fails with `.notAuthenticated(.missingCredential)` before
    /// anything is sent. After a redirect to another origin, where no credential goes, it does not count.
    case required
    /// Like `required`, with the credential of that name and no other.
    case named(String)

    /// True if the call must not go out without a credential.
    var isDemanding: Bool {
        switch self {
        case .anonymous, .optional: false
        case .required, .named: true
        }
    }
}
