// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct CookieStoreTests {
    /// A folder that goes away with its test.
    final class Folder: Sendable {
        let url: URL

        init() throws {
            url = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: url)
        }
    }

    let temporary: Folder
    let clock = ManualClock(date: CookieFixtures.now)

    init() throws {
        temporary = try Folder()
    }

    var folder: URL { temporary.url }
    var path: String { folder.appendingPathComponent("jar.json").path }

    func store(keepsSessionCookies: Bool = false) -> CookieStore {
        CookieStore(file: path, keepsSessionCookies: keepsSessionCookies, jar: CookieFixtures.jar(), time: clock)
    }

    func cookie(_ name: String, expires: Double? = 1000) -> Cookie {
        Cookie(
            name: name, value: "hunter2", domain: "a.test", sameSite: .strict,
            expires: expires.map { CookieFixtures.now.addingTimeInterval($0) }, created: CookieFixtures.now)
    }

    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("Cookies with an expiry are loaded as they were saved")
    func roundTrip() throws {
        let first = store()
        #expect(first.problem == nil)
        #expect(try files() == [], "nothing is written before there is something")
        first.insert(cookie("kept"), at: clock.date)
        first.insert(cookie("session", expires: nil), at: clock.date)
        let second = store()
        #expect(second.cookies == [cookie("kept")])
        #expect(second.problem == nil)
        #expect(try second.cookies(for: "https://a.test/", at: clock.date).map(\.name) == ["kept"])
        second.removeAll { $0.name == "kept" }
        #expect(store().cookies.isEmpty)
        #expect(try files() == ["jar.json"], "no draft is left behind")
    }

    @Test("A cookie of a path with a semicolon, or of a very long one, is loaded again")
    func strangePaths() throws {
        let first = store()
        for path in ["/app;v=1/login", "/" + String(repeating: "x", count: 2000) + "/login"] {
            let request = try CookieFixtures.request("https://a.test\(path)")
            #expect(first.take(["sid=1; Max-Age=3600"], from: request, at: clock.date).isEmpty)
        }
        #expect(store().cookies.count == 2)
        #expect(store().problem == nil)
    }

    @Test("Responses that change no kept cookie do not write the file")
    func rare() throws {
        let first = store()
        let request = try CookieFixtures.request("https://a.test/")
        _ = first.take(["sid=1"], from: request, at: clock.date)
        #expect(try files() == [], "a session cookie is not kept")
        _ = first.take(["id=1; Max-Age=3600"], from: request, at: clock.date)
        #expect(try files() == ["jar.json"])
        try FileManager.default.removeItem(atPath: path)
        _ = first.take(["sid=2", "id=1; Max-Age=3630"], from: request, at: clock.date)
        #expect(try files() == [], "the same again, and an end that moved a little")
        _ = first.take(["id=2; Max-Age=3600"], from: request, at: clock.date)
        #expect(store().cookies.map(\.value) == ["2"])
        _ = first.take(["id=; Max-Age=0"], from: request, at: clock.date)
        #expect(store().cookies.isEmpty)
    }

    @Test("Session cookies are written on request; expired ones are not read")
    func session() throws {
        store(keepsSessionCookies: true).insert(cookie("session", expires: nil), at: clock.date)
        store(keepsSessionCookies: true).insert(cookie("short", expires: 5), at: clock.date)
        #expect(store().cookies.count == 2)
        clock.advance(by: .seconds(5))
        #expect(store().cookies.map(\.name) == ["session"])
    }

    @Test("The file is its owner's alone")
    func permissions() throws {
        let store = store()
        store.insert(cookie("a"), at: clock.date)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(
        "A damaged file is kept under another name, and the store says so",
        arguments: [
            "", "not json", "{\"version\":1}", "{\"version\":1,\"cookies\":[{\"name\":1}]}", "[]", "{\"cookies\":[]}",
        ])
    func damaged(content: String) throws {
        try PrivateFile.replace(path, with: Data(content.utf8))
        let store = store()
        #expect(store.cookies.isEmpty)
        let problem = try #require(store.problem)
        #expect(problem.reason == .storage)
        #expect(problem.detail.contains("damaged-1800000000"))
        #expect(try files() == ["jar.json.damaged-1800000000"])
        let aside = try Data(contentsOf: folder.appendingPathComponent("jar.json.damaged-1800000000"))
        #expect(aside == Data(content.utf8))
        store.insert(cookie("a"), at: clock.date)
        #expect(self.store().cookies.map(\.name) == ["a"])
    }

    @Test("A file of a newer version stays unchanged, and nothing is saved")
    func newer() throws {
        let content = Data("{\"version\":2,\"cookies\":{}}".utf8)
        try PrivateFile.replace(path, with: content)
        let store = store()
        #expect(store.problem?.detail.contains("version 2") == true)
        store.insert(cookie("a"), at: clock.date)
        #expect(store.cookies.count == 1)
        #expect(throws: NetworkError.self) { try store.save() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    }

    @Test("A file that is too large, or no file, stays unchanged")
    func unreadable() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let store = store()
        #expect(store.problem?.reason == .storage)
        store.insert(cookie("a"), at: clock.date)
        #expect(throws: NetworkError.self) { try store.save() }
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.read("/dev/zero", limit: 1 << 20) }
    }

    @Test("A file that cannot be written is a problem until it can")
    func unwritable() throws {
        let missing = folder.appendingPathComponent("missing")
        let store = CookieStore(
            file: missing.appendingPathComponent("jar.json").path, jar: CookieFixtures.jar(), time: clock)
        #expect(store.problem == nil)
        store.insert(cookie("a"), at: clock.date)
        #expect(store.problem?.reason == .storage)
        #expect(store.problem?.description.contains("hunter2") == false)
        #expect(thrownReason { try store.save() } == .storage)
        try FileManager.default.createDirectory(at: missing, withIntermediateDirectories: true)
        try store.save()
        #expect(store.problem == nil)
    }

    @Test("A file with cookies that no server could set is read without them")
    func hostile() throws {
        let first = store()
        first.insert(cookie("good"), at: clock.date)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let forged = text.replacing("\"hunter2\"", with: "\"x\\r\\nX-Forged: 1\"")
        try Data(forged.utf8).write(to: URL(fileURLWithPath: path))
        let second = store()
        #expect(second.cookies.isEmpty)
        #expect(second.problem?.detail.contains("1 cookies") == true)
    }

    @Test("Many tasks change one store; the file holds what the store holds")
    func concurrent() async throws {
        let store = store()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<5 { store.insert(cookie("c\(task)-\(number)"), at: clock.date) }
                }
            }
        }
        #expect(Set(self.store().cookies) == Set(store.cookies))
        #expect(store.cookies.count == 40)
    }

    @Test("Removing all empties it")
    func removingAll() throws {
        let store = store()
        store.insert(cookie("a"), at: clock.date)
        store.removeAll()
        #expect(store.cookies.isEmpty && self.store().cookies.isEmpty)
        #expect("\(store)".hasSuffix("jar.json"))
    }
}
