// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewURLSession

/// Files of background transfers, over several launches of an app.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundFilesTests {
    private let folder: TemporaryFolder
    private let store: BackgroundStore

    init() throws {
        folder = try TemporaryFolder()
        store = Self.launch(folder)
    }

    private static func launch(_ folder: TemporaryFolder, _ identifier: String = "example.films") -> BackgroundStore {
        BackgroundStore(folder: folder.path, identifier: identifier) { _ in }
    }

    /// Starts a download, or without a path an upload.
    private func transfer(to path: String? = nil, in store: BackgroundStore? = nil) throws -> BackgroundTransfer {
        let transfer = try BackgroundTransfer(
            HTTPRequest(.post, url: "https://a.example/film", body: path == nil ? .file("film") : .empty), to: path)
        try (store ?? self.store).start(transfer)
        return transfer
    }

    private func outcome(
        of transfer: BackgroundTransfer, _ response: HTTPResponse?, _ error: NetworkError? = nil,
        in store: BackgroundStore? = nil
    ) throws -> BackgroundOutcome {
        let store = store ?? self.store
        store.finish(transfer.id, response, error)
        guard case .finished(let outcome) = store.transfers.first(where: { $0.id == transfer.id })?.state else {
            throw NetworkError(.badResponse)
        }
        return outcome
    }

    private func write(_ text: String, _ name: String) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func text(_ path: String?) -> String? {
        path.flatMap { FileManager.default.contents(atPath: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private var ledger: String { folder.path + "/example.films.ledger.json" }
    /// The files but for ledgers.
    private var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasSuffix(".ledger.json") }.sorted()
    }

    @Test("A download replaces the file at its target, or makes it", arguments: [false, true])
    func download(isThere: Bool) throws {
        let target = folder.path + "/film"
        if isThere { _ = try write("old", "film") }
        let transfer = try transfer(to: target)
        store.take(try write("new", "temporary"), of: transfer.id, status: 200)
        let outcome = try outcome(of: transfer, HTTPResponse(status: .ok))
        #expect(outcome.file == target && text(target) == "new")
        #expect(names == ["film"])
    }

    @Test("An error page does not replace a good file, and is kept for the app", arguments: [404, 500, 304, 302])
    func errorPage(status: Int) throws {
        let target = try write("good", "film")
        let transfer = try transfer(to: target)
        store.take(try write("not found", "temporary"), of: transfer.id, status: status)
        let outcome = try outcome(of: transfer, HTTPResponse(status: HTTPStatus(status)))
        #expect(text(target) == "good")
        #expect(outcome.status == status && outcome.file != target && text(outcome.file) == "not found")
        #expect(try outcome.response().status.code == status)
        try store.acknowledge(transfer.id)
        #expect(names.sorted() == ["film", "temporary"].filter { names.contains($0) })
        #expect(text(outcome.file) == nil)
    }

    @Test("A target that cannot be replaced keeps its file, and the error says so")
    func impossible() throws {
        let target = folder.path + "/folder"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        for path in [target, folder.path + "/missing/film"] {
            let transfer = try transfer(to: path)
            store.take(try write("new", "temporary"), of: transfer.id, status: 200)
            let outcome = try outcome(of: transfer, HTTPResponse(status: .ok))
            #expect(outcome.status == nil && outcome.failure?.contains("storage") == true)
            #expect(outcome.failure?.contains(path) == true)
        }
        #expect(names.filter { $0.hasSuffix(".new") }.isEmpty)
        #expect(names.contains("folder"))
    }

    @Test("A response that comes in two launches is whole")
    func twoLaunches() throws {
        let upload = try transfer()
        #expect(store.append(Data("first, ".utf8), of: upload.id))
        let later = Self.launch(folder)
        #expect(later.append(Data("second".utf8), of: upload.id))
        let outcome = try outcome(of: upload, HTTPResponse(status: .created), in: later)
        #expect(text(outcome.file) == "first, second")
        #if os(Linux) || os(macOS)
        let mode = try FileManager.default.attributesOfItem(atPath: try #require(outcome.file))[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #endif
    }

    @Test("An overlong response and a failed transfer leave no file")
    func leftovers() throws {
        let upload = try transfer()
        #expect(store.append(Data(count: Int(BackgroundStore.maximumResponse)), of: upload.id))
        #expect(!store.append(Data(count: 1), of: upload.id))
        let outcome = try outcome(of: upload, HTTPResponse(status: .ok), NetworkError(.cancelled))
        #expect(outcome.status == nil && outcome.file == nil)
        #expect(outcome.failure?.contains("1 MiB") == true)
        #expect(names.isEmpty)
        let other = try transfer()
        #expect(store.append(Data("part".utf8), of: other.id))
        _ = try self.outcome(of: other, nil)
        #expect(names.isEmpty)
    }

    @Test("Responses without a transfer are removed, those of others stay")
    func sweep() throws {
        let (known, unknown) = (try transfer(), UUID())
        let other = Self.launch(folder, "example.other")
        for id in [known.id, unknown] {
            #expect(store.append(Data("x".utf8), of: id))
            #expect(other.append(Data("y".utf8), of: id))
        }
        _ = try write("mine", "example.films.notes.answer")
        Self.launch(folder).reattach([known.id])
        let expected = [
            store.responsePath(known.id), other.responsePath(known.id), other.responsePath(unknown),
            folder.path + "/example.films.notes.answer",
        ]
        #expect(names.map { folder.path + "/" + $0 } == expected.sorted())
    }

    private func mode(_ path: String?) throws -> Int? {
        try path.flatMap { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
    }

    @Test("The ledger and the responses are for the owner alone")
    func permissions() throws {
        let upload = try transfer()
        #expect(try mode(ledger) == 0o600)
        #expect(Self.launch(folder).transfers == [upload])
        #expect(store.append(Data("part".utf8), of: upload.id))
        #expect(try mode(store.responsePath(upload.id)) == 0o600)
        let page = try write("not found", "temporary")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: page)
        let download = try transfer(to: folder.path + "/film")
        store.take(page, of: download.id, status: 404)
        #expect(try mode(store.responsePath(download.id)) == 0o600)
    }

    @Test("No outcome keeps a declared secret field, after a relaunch neither")
    func declared() throws {
        let rules = Redaction.Rules(secret: ["X-Device"], secretMembers: ["appid"])
        let client = APIClient.testing(
            URLSessionTransport(), baseURL: "https://a.example", pipeline: .standard,
            configuration: APIClient.Configuration(fields: rules))
        let request = try client.request(for: Request<Void>.get("/film", query: ["appid": "hunter2"]))
        let transfer = try BackgroundTransfer(request, to: folder.path + "/film")
        try store.start(transfer)
        let answer = HTTPResponse(headers: ["X-Device": "hunter2", "X-Key": "hunter2", "X-Plain": "shown"])
        let outcome = try outcome(of: transfer, answer, in: Self.launch(folder))
        #expect(outcome.headers == ["X-Plain": "shown"])
        #expect(text(ledger)?.contains("hunter2") == false)
        #expect(try self.transfer().withheld.isEmpty)
    }
}
