// SPDX-License-Identifier: MIT

/// What the keychain answers instead of an item, as an error with what to do about it. It knows the statuses by number, so
/// it is the same, and tested, where there is no keychain.
enum KeychainFailure {
    /// `errSecMissingEntitlement`: the program is not signed, or not for this access group.
    static let missingEntitlement: Int32 = -34018
    /// `errSecInteractionNotAllowed`: the device has not been unlocked since it started.
    static let interactionNotAllowed: Int32 = -25308

    /// - `action`: what was tried: "read", "written".
    /// - `words`: the system's own for `status`, if it has any.
    static func error(_ action: String, _ status: Int32, _ words: String?) -> NetworkError {
        NetworkError(
            .storage,
            detail: "The keychain item cannot be \(action): \(words ?? "no description") (\(status)).",
            hint: hint(status))
    }

    private static func hint(_ status: Int32) -> String? {
        switch status {
        case missingEntitlement:
            "Sign the app and give it a keychain access group, or keep the tokens in a file. A program that `swift run` "
                + "starts is not signed; `KeychainTokens.isAvailable` tells."
        case interactionNotAllowed:
            "The device has not been unlocked since it started. Nothing is lost: try again after the first unlock, and do "
                + "not sign anybody out for this."
        default: nil
        }
    }
}
