// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct KeychainFailureTests {
    @Test("Before the first unlock the hint says that it passes, and not to sign in again")
    func locked() throws {
        let error = KeychainFailure.error("read", -25308, "User interaction is not allowed.")
        #expect(error.reason == .storage)
        #expect(error.detail.contains("User interaction is not allowed. (-25308)"))
        let hint = try #require(error.hint)
        #expect(hint.contains("first unlock"))
        #expect(!hint.contains("Sign in"))
    }

    @Test("The error advises an unsigned program to be signed, or to use a file")
    func unsigned() throws {
        let hint = try #require(KeychainFailure.error("written", -34018, nil).hint)
        #expect(hint.contains("Sign the app"))
        #expect(hint.contains("file"))
    }

    @Test("Other failures show their status alone")
    func others() {
        let error = KeychainFailure.error("removed", -50, nil)
        #expect(error.hint == nil)
        #expect(error.detail == "The keychain item cannot be removed: no description (-50).")
    }

    /// A keychain that is locked at first.
    private actor LockedAtFirst: TokenStore.Persistence {
        var isLocked = true

        func unlock() { isLocked = false }

        func load() async throws -> Tokens? {
            if isLocked { throw KeychainFailure.error("read", KeychainFailure.interactionNotAllowed, nil) }
            return Tokens(accessToken: "kept")
        }

        func save(_ tokens: Tokens?) async throws {}
    }

    @Test("A session that cannot be read yet is read later, and the hint reaches the caller")
    func unlocked() async throws {
        let keychain = LockedAtFirst()
        let store = TokenStore(keychain)
        await #expect { try await store.tokens } throws: { NetworkError($0).hint?.contains("first unlock") == true }
        await keychain.unlock()
        #expect(try await store.tokens?.accessToken == "kept")
    }
}
