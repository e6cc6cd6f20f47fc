// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// Whose files of cookies are believed.
@Suite(.timeLimit(.minutes(1)))
final class CookieFileTrustTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)")
        .path
    private let clock = ManualClock(date: CookieFixtures.now)

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var path: String { folder + "/file.json" }
    private var other: String { folder + "/other.json" }

    /// What was read, what went wrong, and a change that would be saved.
    private func open(_ path: String) -> (isBelieved: Bool, problem: NetworkError?) {
        let store = CookieStore(file: path, jar: CookieFixtures.jar(), time: clock)
        let isBelieved = !store.cookies.isEmpty
        store.insert(cookie("new"), at: clock.date)
        return (isBelieved, store.problem)
    }

    private func cookie(_ name: String) -> Cookie {
        Cookie(
            name: name, value: "v", domain: "a.test", sameSite: .strict,
            expires: CookieFixtures.now.addingTimeInterval(1000), created: CookieFixtures.now)
    }

    private func plant(_ path: String, mode: Int = 0o600) throws {
        #expect(open(path).problem == nil)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "A file that others can read or change is not used, and stays as it is",
        arguments: [0o644, 0o640, 0o602, 0o606, 0o666, 0o604, 0o620])
    func mode(mode: Int) throws {
        try plant(path, mode: mode)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let (isBelieved, problem) = open(path)
        #expect(!isBelieved && problem?.reason == .storage)
        #expect(problem?.hint?.contains("chmod 600 \(path)") == true, "\(problem as Any)")
        #expect(problem?.detail.contains("0" + String(mode, radix: 8)) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(open(path).isBelieved)
    }

    enum Thing: CaseIterable { case pipe, link, danglingLink, folder, otherUser }

    @Test(
        "A link, folder or pipe is a problem without waiting, and stays as it is",
        arguments: Thing.allCases)
    func foreign(thing: Thing) throws {
        switch thing {
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .link:
            try plant(other)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        case .danglingLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .otherUser:
            try plant(path)
            // Only root can give a file away.
            guard chown(path, 12345, 12345) == 0 else { return }
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let (isBelieved, problem) = open(path)
        #expect(!isBelieved && problem?.reason == .storage && problem?.hint != nil)
        #expect(problem?.detail.contains(path) == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
    }
}
