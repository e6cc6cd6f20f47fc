// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation
import TestServers
import Testing

@testable import CurlewURLSession

/// Files of background transfers, over several launches of an app.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundFilesTests {
    private let folder: TemporaryFolder
    private let files: BackgroundFiles

    init() throws {
        folder = try TemporaryFolder()
        files = BackgroundFiles(folder: folder.path, identifier: "example.films")
    }

    private func transfer(_ kind: BackgroundTransfer.Kind) throws -> BackgroundTransfer {
        BackgroundTransfer(try HTTPRequest(.get, url: "https://a.example/film"), kind: kind)
    }

    private func write(_ text: String, _ name: String) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func text(_ path: String?) -> String? {
        path.flatMap { FileManager.default.contents(atPath: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

    @Test("a download replaces the file at its target, or makes it", arguments: [false, true])
    func download(isThere: Bool) throws {
        let target = folder.path + "/film"
        if isThere { _ = try write("old", "film") }
        let transfer = try transfer(.download(to: target))
        try files.take(try write("new", "temporary"), of: transfer, status: 200)
        let outcome = files.outcome(of: transfer, HTTPResponse(status: .ok), nil)
        #expect(outcome.file == target && text(target) == "new")
        #expect(names == ["film"])
    }

    @Test("an error page does not replace a good file, and is kept for the app", arguments: [404, 500, 304, 302])
    func errorPage(status: Int) throws {
        let target = try write("good", "film")
        let transfer = try transfer(.download(to: target))
        try files.take(try write("not found", "temporary"), of: transfer, status: status)
        let outcome = files.outcome(of: transfer, HTTPResponse(status: HTTPStatus(status)), nil)
        #expect(text(target) == "good")
        #expect(outcome.status == status && outcome.file != target && text(outcome.file) == "not found")
        #expect(try outcome.response().status.code == status)
        files.forget(transfer.id)
        #expect(names.sorted() == ["film", "temporary"].filter { names.contains($0) })
        #expect(text(outcome.file) == nil)
    }

    @Test("a target that cannot be replaced leaves what is there, and an error that says so")
    func impossible() throws {
        let target = folder.path + "/folder"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        for path in [target, folder.path + "/missing/film"] {
            let transfer = try transfer(.download(to: path))
            let temporary = try write("new", "temporary")
            #expect { try files.take(temporary, of: transfer, status: 200) } throws: {
                ($0 as? NetworkError)?.reason == .storage && ($0 as? NetworkError)?.hint != nil
            }
        }
        #expect(names.filter { $0.hasSuffix(".new") }.isEmpty)
        #expect(names.contains("folder"))
    }

    @Test("a response that comes in two launches is whole")
    func twoLaunches() throws {
        let upload = try transfer(.upload(from: "film"))
        try files.append(Data("first, ".utf8), to: upload.id)
        let later = BackgroundFiles(folder: folder.path, identifier: "example.films")
        try later.append(Data("second".utf8), to: upload.id)
        let outcome = later.outcome(of: upload, HTTPResponse(status: .created), nil)
        #expect(text(outcome.file) == "first, second")
        #if os(Linux) || os(macOS)
        let mode = try FileManager.default.attributesOfItem(atPath: try #require(outcome.file))[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #endif
    }

    @Test("an overlong response and a failed transfer leave no file")
    func leftovers() throws {
        let upload = try transfer(.upload(from: "film"))
        try files.append(Data(count: BackgroundFiles.maximumResponse), to: upload.id)
        let error = #expect(throws: NetworkError.self) { try files.append(Data(count: 1), to: upload.id) }
        #expect(error?.reason == .limitExceeded(.responseBody))
        let outcome = files.outcome(of: upload, HTTPResponse(status: .ok), error)
        #expect(outcome.status == nil && outcome.file == nil && outcome.failure != nil)
        #expect(names.isEmpty)
        let other = try transfer(.upload(from: "film"))
        try files.append(Data("part".utf8), to: other.id)
        _ = files.outcome(of: other, nil, nil)
        #expect(names.isEmpty)
    }

    @Test("responses that belong to no transfer are swept, those of others stay")
    func sweep() throws {
        let (known, unknown) = (try transfer(.upload(from: "a")), try transfer(.upload(from: "b")))
        let other = BackgroundFiles(folder: folder.path, identifier: "example.other")
        for each in [known, unknown] {
            try files.append(Data("x".utf8), to: each.id)
            try other.append(Data("y".utf8), to: each.id)
        }
        _ = try write("mine", "example.films.notes.answer")
        files.sweep(keeping: [known.id])
        let expected = [
            files.responsePath(known.id), other.responsePath(known.id), other.responsePath(unknown.id),
            folder.path + "/example.films.notes.answer",
        ]
        #expect(names.map { folder.path + "/" + $0 } == expected.sorted())
    }

    private func mode(_ path: String?) throws -> Int? {
        try path.flatMap { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
    }

    @Test("the ledger and the responses are for the owner alone, whatever their files were before")
    func permissions() throws {
        let ledger = try write("{}", "example.films.ledger.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: ledger)
        var content = BackgroundLedger(file: ledger)
        let upload = try transfer(.upload(from: "/film"))
        content.start(upload)
        try content.save(to: files.ledger)
        #expect(files.ledger == ledger)
        #expect(try mode(ledger) == 0o600)
        #expect(BackgroundLedger(file: ledger) == content)
        try files.append(Data("part".utf8), to: upload.id)
        #expect(try mode(files.responsePath(upload.id)) == 0o600)
        let page = try write("not found", "temporary")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: page)
        let download = try transfer(.download(to: folder.path + "/film"))
        try files.take(page, of: download, status: 404)
        #expect(try mode(files.responsePath(download.id)) == 0o600)
    }

    @Test("a ledger behind a symbolic link is not read, and the next one replaces it")
    func link() throws {
        var ledger = BackgroundLedger()
        ledger.start(try transfer(.upload(from: "/film")))
        try ledger.save(to: folder.path + "/elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: files.ledger, withDestinationPath: folder.path + "/elsewhere")
        #expect(BackgroundLedger(file: files.ledger).entries.isEmpty)
        try BackgroundLedger().save(to: files.ledger)
        #expect(BackgroundLedger(file: folder.path + "/elsewhere") == ledger)
    }

    @Test("no outcome keeps a field that was declared as secret, after a relaunch neither")
    func declared() throws {
        let rules = FieldRules(secret: ["X-Device"], secretMembers: ["appid"])
        let client = APIClient(
            baseURL: "https://a.example", pipeline: .standard, transport: URLSessionTransport(),
            configuration: APIClient.Configuration(fields: rules))
        let request = try client.request(for: Request<Void>.get("/film", query: ["appid": "hunter2"]))
        let text = try BackgroundTransfer(request, kind: .upload(from: "/film")).text()
        let again = try #require(BackgroundTransfer(text: text))
        let answer = HTTPResponse(headers: ["X-Device": "hunter2", "X-Key": "hunter2", "X-Plain": "shown"])
        let outcome = files.outcome(of: again, answer, nil)
        #expect(outcome.headers == ["X-Plain": "shown"])
        #expect(!text.contains("hunter2"))
        #expect(try BackgroundTransfer(text: transfer(.upload(from: "/film")).text())?.withheld == nil)
    }
}
