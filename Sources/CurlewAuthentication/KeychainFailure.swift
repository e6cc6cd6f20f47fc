// SPDX-License-Identifier: MIT

import CurlewCore

/// Converts statuses of the keychain to errors, with a hint where one is known. The statuses are written as numbers, so
/// that this file is also compiled and tested on platforms without a keychain.
enum KeychainFailure {
    /// `errSecMissingEntitlement`: the program is not signed, or has no entitlement for the access group.
    static let missingEntitlement: Int32 = -34018
    /// `errSecInteractionNotAllowed`: the device has not been unlocked since it started.
    static let interactionNotAllowed: Int32 = -25308

    /// Returns the error for a status.
    ///
    /// - `action`: the operation that failed, as a participle: "read", "written" or "removed".
    /// - `words`: the system's description of `status`; nil if there is none.
    static func error(_ action: String, _ status: Int32, _ words: String?) -> NetworkError {
        NetworkError(
            .storage,
            detail: "The keychain item cannot be \(action): \(words ?? "no description") (\(status)).",
            hint: hint(status))
    }

    private static func hint(_ status: Int32) -> String? {
        switch status {
        case missingEntitlement:
            "Sign the app and give it a keychain access group, or use a file for the tokens. A program that "
                + "`swift run` starts is not signed; check `KeychainTokens.isAvailable`."
        case interactionNotAllowed:
            "The device has not been unlocked since it started. The tokens are intact: try again after the first "
                + "unlock, and do not sign the user out."
        default: nil
        }
    }
}
