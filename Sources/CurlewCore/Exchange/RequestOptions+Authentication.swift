// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// The credential with which a call is sent, and whether it is required.
    public enum Authentication: Hashable, Sendable {
        /// Sends no credential, even if there is one. The case is not named `none`, which would be ambiguous where the
        /// choice is optional.
        case anonymous
        /// Sends the client's credential if there is one. This is the default.
        case optional
        /// Sends the client's credential. Without one, the call fails with `.notAuthenticated(.missingCredential)`
        /// before anything is sent. The requirement does not apply after a redirect to another origin, to which no
        /// credential is sent.
        case required
        /// Like `required`, but only with the credential that has this name.
        case named(String)

        /// Whether the call must not be sent without a credential.
        package var isDemanding: Bool {
            switch self {
            case .anonymous, .optional: false
            case .required, .named: true
            }
        }
    }
}
