// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Which token files are used, and what becomes of the others.
@Suite(.timeLimit(.minutes(1)))
final class FileTokensTrustTests {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)").path
    var path: String { folder + "/tokens.json" }
    let tokens = Tokens(accessToken: "mine", refreshToken: "r")

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    private func plant(_ path: String, mode: Int = 0o600) throws {
        try StoredTokens.encode(Tokens(accessToken: "theirs", refreshToken: "x")).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "A file that others can read or change is not used; the next sign-in makes it private",
        arguments: [0o644, 0o640, 0o602, 0o606, 0o666, 0o604, 0o620])
    func mode(mode: Int) async throws {
        try plant(path, mode: mode)
        let store = TokenStore(.file(path), time: ManualClock())
        let error = await #expect(throws: NetworkError.self) { try await store.tokens }
        #expect(error?.reason == .storage && error?.hint?.contains("chmod 600 \(path)") == true)
        #expect(error?.detail.contains("0" + String(mode, radix: 8)) == true)
        #expect(try names == ["tokens.json"])
        try await store.signIn(tokens)
        #expect(try await TokenStore.FilePersistence(path).load() == tokens)
        #expect(try names == ["tokens.json"])
    }

    @Test("A file that others can read is removed at sign-out")
    func openSignOut() async throws {
        try plant(path, mode: 0o644)
        try await TokenStore(.file(path), time: ManualClock()).signOut()
        #expect(try names == [])
    }

    enum Thing: CaseIterable { case pipe, link, danglingLink, folder, otherUser }

    @Test("A link, folder or pipe is refused without waiting, and stays as it is", arguments: Thing.allCases)
    func foreign(thing: Thing) async throws {
        switch thing {
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .link:
            try plant(folder + "/elsewhere")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/elsewhere")
        case .danglingLink:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/nowhere")
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .otherUser:
            try plant(path)
            // Only root can give a file away.
            guard chown(path, 12345, 12345) == 0 else { return }
        }
        let before = try names
        let store = TokenStore(.file(path), time: ManualClock())
        let read = await #expect(throws: NetworkError.self) { try await store.tokens }
        let written = await #expect(throws: NetworkError.self) { try await store.signIn(tokens) }
        #expect(try await store.tokens == tokens)
        let removed = await #expect(throws: NetworkError.self) { try await store.signOut() }
        for error in [read, written, removed] {
            #expect(error?.reason == .storage && error?.hint != nil && error?.detail.contains(path) == true)
        }
        #expect(try names == before)
        let kept = thing == .link ? folder + "/elsewhere" : path
        if thing == .link || thing == .otherUser {
            #expect(try String(contentsOfFile: kept, encoding: .utf8).contains("theirs"))
        }
    }

    @Test("Locks leave nothing behind, and the lock of a killed process is taken over")
    func locks() async throws {
        let name = path + ".lock"
        let lock = try #require(try FileLock.attempt(name))
        #expect(try FileLock.attempt(name) == nil)
        lock.release()
        #expect(try names == [])
        try Data().write(to: URL(fileURLWithPath: name))
        let second = try #require(try FileLock.attempt(name))
        second.release()
        second.release()
        #expect(try names == [])
        // One whose file was removed under it does not keep others out, nor remove theirs.
        let stale = try #require(try FileLock.attempt(name))
        try FileManager.default.removeItem(atPath: name)
        let fresh = try #require(try FileLock.attempt(name))
        stale.release()
        #expect(try FileLock.attempt(name) == nil)
        fresh.release()
        // Another user's could be held forever. Only root can give one away.
        try Data().write(to: URL(fileURLWithPath: name))
        if chown(name, 12345, 12345) == 0 {
            #expect(throws: PrivateFile.Failure.self) { try FileLock.attempt(name) }
        }
        try FileManager.default.removeItem(atPath: name)
        // A planted link is not followed.
        try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: folder + "/target")
        #expect(throws: PrivateFile.Failure.self) { try FileLock.attempt(name) }
        #expect(!FileManager.default.fileExists(atPath: folder + "/target"))
    }

    @Test("A wait for a lock is bounded, and ends as soon as it is free")
    func waiting() async throws {
        let (name, clock) = (path + ".lock", ManualClock())
        let held = try #require(try FileLock.attempt(name))
        let deadline = SystemTime.Deadline(.milliseconds(200), after: clock.now)
        let late = Task { try await FileLock.wait(for: name, until: deadline, on: clock) }
        while clock.now < deadline.instant ?? clock.now {
            try await clock.waitForSleepers(1)
            clock.advanceToNextSleeper()
        }
        await #expect(throws: DeadlinePassed.self) { try await late.value.release() }
        let next = Task { try await FileLock.wait(for: name, until: .never, on: clock) }
        try await clock.waitForSleepers(1)
        held.release()
        clock.advance(by: .seconds(1))
        try await next.value.release()
        let cancelled = Task { [held = try #require(try FileLock.attempt(name))] in
            defer { held.release() }
            return try await FileLock.wait(for: name, until: .never, on: clock)
        }
        try await clock.waitForSleepers(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value.release() }
    }
}
