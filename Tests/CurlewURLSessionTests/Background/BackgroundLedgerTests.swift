// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewURLSession

/// Launches that cannot read the ledger of the background transfers.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundLedgerTests {
    private let folder: TemporaryFolder
    private let reports = Locked<[BackgroundTransfer]>([])

    init() throws { folder = try TemporaryFolder() }

    private var ledger: String { folder.path + "/films.ledger.json" }

    private func launch() -> BackgroundStore {
        BackgroundStore(folder: folder.path, identifier: "films") { [reports] transfer in
            reports.withLock { $0.append(transfer) }
        }
    }

    private func transfer(_ name: String = "film") throws -> BackgroundTransfer {
        let request = try HTTPRequest(url: "https://a.example/films")
        return try BackgroundTransfer(request, to: "\(folder.path)/\(name)", tags: ["a": "b"])
    }

    private func task(_ id: UUID, isDownload: Bool = true) -> BackgroundTask {
        BackgroundTask(id: id, isDownload: isDownload, line: "GET https://a.example")
    }

    private func expectClosed(_ store: BackgroundStore) throws {
        let before = try? Data(contentsOf: URL(fileURLWithPath: ledger))
        #expect(store.transfers.isEmpty && store.problem?.reason == .storage)
        #expect { try store.start(transfer()) } throws: { ($0 as? NetworkError)?.reason == .storage }
        #expect(store.transfers.isEmpty)
        #expect((try? Data(contentsOf: URL(fileURLWithPath: ledger))) == before)
    }

    @Test("A ledger that others can read or change is not used, not changed, and reported", arguments: [0o644, 0o602])
    func rights(mode: Int) throws {
        let one = try transfer()
        try launch().start(one)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: ledger)
        let store = launch()
        try expectClosed(store)
        #expect(store.problem?.hint?.contains("chmod 600") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: ledger)
        let two = try transfer("other")
        try store.start(two)
        #expect(store.transfers == [one, two] && store.problem == nil)
        #expect(launch().transfers == [one, two])
    }

    @Test("A folder, and a symbolic link, at the path of the ledger stay there", arguments: [false, true])
    func notAFile(isLink: Bool) throws {
        let elsewhere = try folder.file("elsewhere", Data("[]".utf8))
        if isLink {
            try FileManager.default.createSymbolicLink(atPath: ledger, withDestinationPath: elsewhere)
        } else {
            try FileManager.default.createDirectory(atPath: ledger, withIntermediateDirectories: false)
        }
        try expectClosed(launch())
        #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "[]")
        if isLink { #expect(try FileManager.default.destinationOfSymbolicLink(atPath: ledger) == elsewhere) }
    }

    @Test("Without a ledger, the system's tasks become transfers, and their ends are reported once")
    func adopted() throws {
        let (one, two) = (try transfer(), UUID())
        try launch().start(one)
        try PrivateFile.replace(ledger, with: Data("[{".utf8))
        let store = launch()
        // An event comes before the list of tasks.
        store.adopt(task(two, isDownload: false))
        #expect(store.append(Data("stored".utf8), of: two))
        store.finish(two, HTTPResponse(status: .created, headers: ["X-Device": "hunter2"]), nil)
        store.reattach([task(one.id)])
        #expect(store.transfers.map(\.id) == [two, one.id] && store.transfers.last?.state == .running)
        store.adopt(task(one.id))
        store.take(try folder.file("arrived", Data(count: 2 << 20)), of: one.id, status: 200)
        store.finish(one.id, HTTPResponse(status: .ok, headers: ["Content-Type": "video/mp4"]), nil)
        let told = reports.withLock { $0 }
        #expect(told.map(\.id) == [two, one.id])
        let outcomes = told.compactMap { if case .finished(let outcome) = $0.state { outcome } else { nil } }
        #expect(outcomes.map(\.status) == [201, 200])
        #expect(outcomes.map(\.headers) == [[:], ["Content-Type": "video/mp4"]])
        let files = try outcomes.map { try Data(contentsOf: URL(fileURLWithPath: #require($0.file))) }
        #expect(files == [Data("stored".utf8), Data(count: 2 << 20)])
        #expect(launch().transfers == store.transfers)
        for id in [one.id, two] { try store.acknowledge(id) }
        // The system may report an end twice.
        for id in [one.id, two] {
            store.adopt(task(id))
            store.finish(id, HTTPResponse(status: .ok), nil)
        }
        #expect(store.transfers.isEmpty && reports.withLock { $0.count } == 4)
        #expect(outcomes.allSatisfy { $0.file.map(FileManager.default.fileExists) == false })
    }

    @Test("An end while the ledger cannot be read is reported, and joins the ledger later")
    func later() throws {
        let (one, two, three) = (try transfer("1"), try transfer("2"), try transfer("3"))
        let first = launch()
        for each in [one, two, three] { try first.start(each) }
        first.finish(three.id, HTTPResponse(status: .ok), nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: ledger)
        reports.withLock { $0 = [] }
        let store = launch()
        store.reattach([task(one.id), task(two.id)])
        store.take(try folder.file("arrived", Data("one".utf8)), of: one.id, status: 200)
        store.finish(one.id, HTTPResponse(status: .ok), nil)
        #expect(reports.withLock { $0.map(\.id) } == [one.id])
        #expect(launch().transfers.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: ledger)
        store.finish(two.id, nil, NetworkError(.unreachable))
        #expect(reports.withLock { $0.map(\.id) } == [one.id, three.id, two.id])
        #expect(store.transfers.map(\.id) == [one.id, two.id, three.id])
        #expect(store.transfers.map(\.tags) == [["a": "b"], ["a": "b"], ["a": "b"]])
        #expect(launch().transfers == store.transfers)
    }

    @Test("With a ledger, an unknown task of the system is ignored")
    func unknown() throws {
        try launch().start(transfer())
        let store = launch()
        let id = UUID()
        store.reattach([task(id)])
        store.adopt(task(id))
        store.finish(id, HTTPResponse(status: .ok), nil)
        #expect(store.transfers.count == 1 && !store.transfers.contains { $0.id == id })
    }

    @Test("A link at the path of a stored response is not followed")
    func plantedResponse() throws {
        let store = launch()
        let upload = try BackgroundTransfer(
            HTTPRequest(.post, url: "https://a.example/film", body: .file("film")), to: nil)
        try store.start(upload)
        let elsewhere = try folder.file("elsewhere", Data("mine".utf8))
        try FileManager.default.createSymbolicLink(
            atPath: store.responsePath(upload.id), withDestinationPath: elsewhere)
        #expect(!store.append(Data("x".utf8), of: upload.id))
        #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "mine")
    }
}
