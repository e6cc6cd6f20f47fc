// SPDX-License-Identifier: MIT

import CurlewCookies
import TestServers
import Testing

@testable import CurlewURLSession

/// What is kept of background transfers, which is the same on every platform.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundTests {
    private let folder: TemporaryFolder
    private let reports = Locked<[BackgroundTransfer]>([])

    init() throws { folder = try TemporaryFolder() }

    private func launch(capacity: Int = BackgroundStore.capacity) -> BackgroundStore {
        BackgroundStore(folder: folder.path, identifier: "films", capacity: capacity) { [reports] transfer in
            reports.withLock { $0.append(transfer) }
        }
    }

    private func transfer(_ name: String = "film", tags: [String: String] = [:]) throws -> BackgroundTransfer {
        let request = try HTTPRequest(
            .post, url: "https://a.example/films?token=hidden&page=2", headers: ["Authorization": "Bearer hidden"])
        return try BackgroundTransfer(request, to: "films/\(name)", tags: tags)
    }

    private let response = HTTPResponse(
        status: .ok, headers: ["Content-Type": "application/json", "Set-Cookie": "a=hidden"])

    private func states(_ store: BackgroundStore) -> [BackgroundTransfer.State] { store.transfers.map(\.state) }

    @Test("A description is kept without secrets and returns the same")
    func description() throws {
        let original = try transfer(tags: ["film": "7", "what/ever": "ü"])
        try launch().start(original)
        #expect(launch().transfers == [original])
        let text = try String(contentsOfFile: folder.path + "/films.ledger.json", encoding: .utf8)
        #expect(!text.contains("hidden"))
        #expect(text.contains("page=2") && original.line.contains("page=2"))
    }

    @Test("A ledger of others, or cut off, is set aside and reported", arguments: ["", "upload 7", "[", "{}", "[{}]"])
    func foreignLedger(text: String) throws {
        let ledger = folder.path + "/films.ledger.json"
        try PrivateFile.replace(ledger, with: Data(text.utf8))
        let store = launch()
        #expect(store.transfers.isEmpty)
        let problem = try #require(store.problem)
        let aside = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.contains("damaged") })
        #expect(problem.reason == .storage && problem.detail.contains(aside))
        #expect(try String(contentsOfFile: folder.path + "/" + aside, encoding: .utf8) == text)
        let next = try transfer()
        try store.start(next)
        #expect(launch().transfers == [next] && launch().problem == nil)
    }

    @Test("A call without a body is a download, one with a file an upload, others are refused")
    func kinds() throws {
        func kind(_ body: RequestBody, to path: String?) -> BackgroundTransfer.Kind? {
            let request = try? HTTPRequest(.post, url: "https://a.example/films", body: body)
            return try? request.map { try BackgroundTransfer($0, to: path).kind }
        }
        #expect(kind(.empty, to: "film") == .download(to: "film"))
        #expect(kind(.file("film"), to: nil) == .upload(from: "film"))
        #expect(kind(.empty, to: nil) == nil)
        #expect(kind(.file("film"), to: "film") == nil)
        #expect(kind(.bytes(Data("film".utf8)), to: nil) == nil)
        let error = #expect(throws: NetworkError.self) {
            try BackgroundTransfer(HTTPRequest(.post, url: "https://a.example", body: .bytes(Data([1]))), to: nil)
        }
        #expect(error?.reason == .invalidRequest && error?.hint?.contains("file") == true)
    }

    @Test("A relaunch finds what runs, what ended, and what the system lost")
    func relaunch() throws {
        let (running, ended, lost) = (try transfer(), try transfer(), try transfer())
        let store = launch()
        for each in [running, ended, lost] { try store.start(each) }
        store.finish(ended.id, response, nil)
        let outcome = BackgroundOutcome(response, file: nil)
        #expect(reports.withLock { $0.map(\.state) } == [.finished(outcome)])

        let later = launch()
        #expect(later.transfers == store.transfers)
        later.reattach([running.id, UUID()])
        #expect(states(later) == [.running, .finished(outcome), .lost])
        // The second launch reports again what was not acknowledged.
        #expect(reports.withLock { $0.map(\.id) } == [ended.id, ended.id, lost.id])
        for each in [running, ended, lost] { try later.acknowledge(each.id) }
        #expect(later.transfers == [running])
        #expect(launch().transfers == [running])
    }

    @Test("A transfer started while the system listed its tasks is not lost")
    func race() throws {
        let (old, new) = (try transfer(), try transfer())
        try launch().start(old)
        let store = launch()
        try store.start(new)
        store.reattach([])
        #expect(states(store) == [.lost, .running])
        store.reattach([old.id])
        #expect(states(store) == [.running, .running])
    }

    @Test("The first outcome counts, also after a loss was assumed, and none of an unknown transfer")
    func outcomes() throws {
        let (one, two) = (try transfer(), try transfer())
        let outcome = BackgroundOutcome(response, file: nil)
        try launch().start(one)
        let store = launch()
        try store.start(two)
        store.reattach([])
        #expect(states(store) == [.lost, .running])
        for each in [one, two] {
            store.finish(each.id, response, nil)
            store.finish(each.id, nil, NetworkError(.cancelled))
        }
        store.finish(UUID(), response, nil)
        #expect(states(store) == [.finished(outcome), .finished(outcome)])
        #expect(reports.withLock { $0.map(\.state) } == [.lost, .finished(outcome), .finished(outcome)])
    }

    @Test("The ledger forgets the oldest ended transfer, never a running one")
    func capacity() throws {
        let store = launch(capacity: 10)
        let first = try transfer()
        try store.start(first)
        var last: [UUID] = []
        for _ in 0..<15 {
            let next = try transfer()
            try store.start(next)
            store.finish(next.id, response, nil)
            last.append(next.id)
        }
        #expect(store.transfers.map(\.id) == [first.id] + last.suffix(9))
        #expect(store.transfers.first?.state == .running)
    }

    @Test("A transfer that cannot be recorded is not started")
    func unwritable() throws {
        let store = BackgroundStore(folder: folder.path + "/missing", identifier: "films") { _ in }
        #expect { try store.start(transfer()) } throws: { ($0 as? NetworkError)?.reason == .storage }
        #expect(store.transfers.isEmpty)
    }

    @Test(
        "Through random relaunches, losses and failures each film arrives, one transfer at a time",
        arguments: 0..<10)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let target = folder.path + "/film"
        var store = launch()
        // The tasks of the system, which outlive the app.
        var tasks: [BackgroundTransfer] = []
        for round in 0..<6 {
            var hasArrived = false
            var steps = 0
            while !hasArrived, steps < 60 {
                steps += 1
                // The app: it handles what was reported, and starts what has not arrived.
                for transfer in reports.withLock({ $0 }) {
                    if case .finished(let outcome) = transfer.state, outcome.status == 200 {
                        hasArrived = hasArrived || outcome.file == target && transfer.tags["round"] == "\(round)"
                    }
                    try store.acknowledge(transfer.id)
                }
                reports.withLock { $0 = [] }
                if hasArrived { break }
                if store.transfers.isEmpty {
                    let request = try HTTPRequest(.get, url: "https://a.example/film")
                    tasks.append(try BackgroundTransfer(request, to: target, tags: ["round": "\(round)"]))
                    try store.start(tasks[tasks.count - 1])
                }
                #expect(tasks.count <= 1 && store.transfers.count <= 1, "seed \(seed)")
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    store = launch()
                    store.reattach(Set(tasks.map(\.id)))
                case 1:
                    // The user terminates the app, and the system forgets its tasks.
                    tasks = []
                    store = launch()
                    store.reattach([])
                case 2: tasks.popLast().map { store.finish($0.id, nil, NetworkError(.unreachable)) }
                case 3: try end(&tasks, .notFound, "no", in: store)
                default: try end(&tasks, .ok, "film \(round)", in: store)
                }
            }
            #expect(hasArrived, "seed \(seed), round \(round)")
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "film \(round)", "seed \(seed)")
        }
        #expect(store.transfers.isEmpty, "seed \(seed)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["film", "films.ledger.json"], "seed \(seed)")
    }

    /// Ends the task as the delegate of a session reports it.
    private func end(
        _ tasks: inout [BackgroundTransfer], _ status: HTTPStatus, _ text: String, in store: BackgroundStore
    ) throws {
        guard let task = tasks.popLast() else { return }
        store.take(try folder.file("arrived", Data(text.utf8)), of: task.id, status: status.code)
        store.finish(task.id, HTTPResponse(status: status), nil)
    }

    @Test("An outcome is a response for an endpoint to decode")
    func decoding() async throws {
        struct Film: Codable, Equatable, Sendable { let title: String }
        struct GetFilm: Endpoint {
            typealias Response = Film
            var path: RequestPath { "/films/7" }
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(#"{"title":"Metropolis"}"#.utf8).write(to: URL(fileURLWithPath: path))
        let outcome = BackgroundOutcome(
            HTTPResponse(status: .ok, headers: ["Content-Type": "application/json", "Set-Cookie": "a=1"]), file: path)
        #expect(outcome.headers == ["Content-Type": "application/json"])
        #expect(try await GetFilm().decode(try outcome.response(), using: .json) == Film(title: "Metropolis"))
        #expect { try outcome.response(limit: 3) } throws: {
            ($0 as? NetworkError)?.reason == .limitExceeded(.responseBody)
        }
        let failed = BackgroundOutcome(NetworkError(.unreachable, detail: "No route."))
        #expect(failed.failure == "unreachable: No route.")
        #expect { try failed.response() } throws: {
            ($0 as? NetworkError)?.reason == .connectionLost(.requestMayHaveArrived)
        }
    }

    @Test("Certificates in PEM text are found, whatever surrounds them")
    func pem() {
        let text = """
            subject=one
            -----BEGIN CERTIFICATE-----
            AQID
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            BAUG
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            BAUG
            """
        #expect(PEMText.certificates(in: Data(text.utf8)) == [Data([1, 2, 3]), Data([4, 5, 6])])
        #expect(PEMText.certificates(in: Data()).isEmpty)
    }
}

extension BackgroundStore {
    /// Compares the ledger with downloads of these identifiers.
    func reattach(_ ids: Set<UUID>) {
        reattach(ids.map { BackgroundTask(id: $0, isDownload: true, line: "GET https://a.example") })
    }
}
