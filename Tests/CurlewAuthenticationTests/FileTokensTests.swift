// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Tokens on disk.
@Suite(.timeLimit(.minutes(1)))
final class FileTokensTests {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)")
    var path: String { folder.appendingPathComponent("tokens.json").path }
    let tokens = Tokens(
        accessToken: "a", refreshToken: "r", expiresAt: Date(timeIntervalSinceReferenceDate: 1_000_000.5))

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test("Saved tokens are loaded by another store; signing out leaves nothing")
    func roundTrip() async throws {
        let store = TokenStore(.file(path), time: ManualClock())
        #expect(try await store.tokens == nil)
        try await store.signIn(tokens)
        let other = TokenStore(.file(path), time: ManualClock())
        #expect(try await other.tokens == tokens)
        #expect(other.principal == store.principal && store.principal != .anonymous)
        try await other.signOut()
        #expect(try names == [])
        try await other.signOut()
        #expect(try await TokenStore(.file(path), time: ManualClock()).tokens == nil)
    }

    @Test("Only the owner can read the file, also one that others could before")
    func permissions() async throws {
        for _ in 0..<2 {
            try await TokenStore.FilePersistence(path).save(tokens)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        #expect(try names == ["tokens.json"])
    }

    @Test(
        "A damaged file is a clear error each time, and stays until a user signs in or out",
        arguments: ["", "{", "[]", #"{"version":1}"#, #"{"version":1,"tokens":{"refresh_token":"r"}}"#, "\u{0}\u{1}"])
    func damaged(text: String) async throws {
        try write(text)
        let store = TokenStore(.file(path), time: ManualClock())
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await store.tokens }
            #expect(error?.reason == .storage && error?.hint?.contains("sign out") == true)
            #expect(try names == ["tokens.json"])
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        try await store.signIn(tokens)
        #expect(try await TokenStore.FilePersistence(path).load() == tokens)
    }

    @Test(
        "Signing out leaves nothing of a damaged file, and signing in none of its secrets",
        arguments: [
            #"{"version":1,"tokens":{"refresh_token":"s3cret"#, #"{"version":2,"tokens":"s3cret"}"#, "s3cret",
        ])
    func secretsOfDamaged(text: String) async throws {
        try write(text)
        try await TokenStore(.file(path), time: ManualClock()).signOut()
        #expect(try names == [])
        // What was tokens once is replaced. Anything else may belong to another program, and is set aside.
        try write(text)
        try await TokenStore(.file(path), time: ManualClock()).signIn(tokens)
        #expect(try names.count == (text == "s3cret" ? 2 : 1))
        #expect(try await TokenStore.FilePersistence(path).load() == tokens)
    }

    @Test("A file of a newer version stays where it is until a user signs in")
    func newer() async throws {
        let text = #"{"version":2,"tokens":"elsewhere"}"#
        try write(text)
        let store = TokenStore(.file(path), time: ManualClock())
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await store.tokens }
            #expect(error?.reason == .storage && error?.detail.contains("version 2") == true)
            #expect(try names == ["tokens.json"])
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        try await store.signIn(tokens)
        #expect(try names == ["tokens.json"])
    }

    @Test("A path that cannot be written is a clear error, and the tokens are used all the same")
    func unwritable() async throws {
        for path in [folder.path + "/missing/tokens.json", "/dev/null/tokens.json"] {
            let store = TokenStore(.file(path), time: ManualClock())
            let error = await #expect(throws: NetworkError.self) { try await store.signIn(tokens) }
            #expect(error?.reason == .storage && error?.detail.contains(path) == true)
            #expect(try await store.tokens == tokens)
            #expect(await store.problem?.reason == .storage)
        }
    }

    @Test("A file that is too large is no token file, and is not read to its end")
    func large() async throws {
        try write(String(repeating: " ", count: TokenStore.FilePersistence.limit + 1))
        #expect(await failureReason { try await TokenStore.FilePersistence(path).load() } == .storage)
        #expect(try names == ["tokens.json"])
        try await TokenStore.FilePersistence(path).save(tokens)
        #expect(try names.count == 2)
    }

    @Test("No text shows a token")
    func descriptions() async throws {
        #expect("\(TokenStore.FilePersistence(path))" == "TokenStore.FilePersistence(\(path))")
        try write(#"{"version":1,"tokens":{"access_token":7,"refresh_token":"s3cret"}}"#)
        let error = await #expect(throws: NetworkError.self) { try await TokenStore.FilePersistence(path).load() }
        #expect(error.map { "\($0)".contains("s3cret") } == false)
    }
}
