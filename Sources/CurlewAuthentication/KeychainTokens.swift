// SPDX-License-Identifier: MIT

import CurlewFoundation

#if canImport(Security)
public import CurlewCore
import Security

/// A token storage in the keychain, as a generic password of this device. Create it with
/// `.keychain(service:account:accessGroup:)`.
///
/// The tokens can be read, also in the background, once the device has been unlocked after it started. They are neither
/// synchronized nor restored to another device. Before that unlock, calls that need tokens throw `.storage` and the
/// account stays signed in; the first call after the unlock reads the tokens. An item that does not contain tokens
/// causes `.storage` until a sign-in replaces it or a sign-out removes it.
///
/// On macOS, the tokens are in the data protection keychain, and only signed apps with a keychain access group may use
/// this keychain. Other programs use `.file`. Check `isAvailable` in a program that also runs unsigned, for example
/// with `swift run`.
public struct KeychainTokens: TokenStore.Persistence {
    private let service: String
    private let account: String
    private let accessGroup: String?

    /// Creates a token storage in the keychain item that `service` and `account` identify. The item belongs to the app,
    /// or to `accessGroup`, which several apps share.
    public init(service: String, account: String, accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// Whether this process may use the keychain. False if the process is not signed for the keychain; loading and
    /// saving then throw `.storage`. True while the device is locked, because that state is temporary.
    public static var isAvailable: Bool {
        let probe = KeychainTokens(service: "curlew.availability", account: "nobody")
        return SecItemCopyMatching(probe.item as CFDictionary, nil) != KeychainFailure.missingEntitlement
    }

    /// Returns the stored tokens; nil if there is no item. Throws `.storage` if the item cannot be read or contains no
    /// tokens.
    public func load() async throws(NetworkError) -> Tokens? {
        var query = item
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else { throw error("read", status) }
        do throws(StoredTokens.Problem) {
            return try StoredTokens.decode(data)
        } catch {
            let words =
                if case .newer(let version) = error {
                    "has version \(version); this package supports \(StoredTokens.version)"
                } else {
                    "is damaged: it contains no tokens"
                }
            throw NetworkError(
                .storage, detail: "The keychain item \(words).",
                hint: "Sign in again to replace it, or sign out to remove it.")
        }
    }

    /// Replaces the stored tokens with `tokens`; nil removes the item. Throws `.storage` if that fails.
    public func save(_ tokens: Tokens?) async throws(NetworkError) {
        guard let tokens else {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw error("removed", status) }
            return
        }
        let values: [String: Any] = [
            kSecValueData as String: try StoredTokens.encode(tokens),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            let new = item.merging(values) { $1 }
            status = SecItemAdd(new as CFDictionary, nil)
            // Another process has added the item since the update failed.
            if status == errSecDuplicateItem { status = SecItemUpdate(item as CFDictionary, values as CFDictionary) }
        }
        guard status == errSecSuccess else { throw error("written", status) }
    }

    private var item: [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account, kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }

    private func error(_ action: String, _ status: OSStatus) -> NetworkError {
        KeychainFailure.error(action, status, SecCopyErrorMessageString(status, nil).map { $0 as String })
    }
}

extension KeychainTokens: CustomStringConvertible {
    /// `KeychainTokens`, with the service and the account of the item.
    public var description: String { "KeychainTokens(\(service), \(account))" }
}

extension TokenStore.Persistence where Self == KeychainTokens {
    /// Stores tokens in the keychain of this device. See `KeychainTokens`.
    public static func keychain(
        service: String, account: String, accessGroup: String? = nil
    ) -> KeychainTokens {
        KeychainTokens(service: service, account: account, accessGroup: accessGroup)
    }
}
#endif
