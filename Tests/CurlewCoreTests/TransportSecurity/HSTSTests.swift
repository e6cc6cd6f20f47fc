// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewStandard
@testable import CurlewTransportSecurity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hosts that are asked over https because they have said so (RFC 6797), and no others.
@Suite(.timeLimit(.minutes(1)))
struct HSTSTests {
    private let clock = ManualClock(date: Date(timeIntervalSince1970: 1_800_000_000))
    private let store = HSTSStore()
    private let year = StrictTransportSecurity(maxAge: 31_536_000)
    private let yearBeneath = StrictTransportSecurity(maxAge: 31_536_000, includesSubdomains: true)

    private func client(
        _ pipeline: Pipeline = .standard, base: BaseURL = "http://a.test", _ configure: (MockTransport) -> Void
    ) -> APIClient {
        .mock(
            baseURL: base, pipeline: pipeline.adding(.hsts(store)), configuration: APIClient.Configuration(time: clock),
            configure)
    }

    private func sent(by client: APIClient) -> [String] { client.recordedCalls.map(\.request.urlString) }

    @Test("a host that has said so over https is asked over https, until its time is over")
    func upgrade() async throws {
        let client = client {
            $0.onAny { _ in .status(204, headers: [.strictTransportSecurity: "max-age=100"]) }
        }
        #expect(client.pipeline.description.hasPrefix("Redirects → HSTS → Retry("))
        #expect(client.problems.isEmpty)
        let call = Request<HTTPResponse>.get("/x")
        // A response over http proves nothing: an attacker may have written it.
        for _ in 0..<2 { try await client.send(call) }
        try await client.send(Request<HTTPResponse>.get(url: "https://a.test/"))
        for _ in 0..<2 { try await client.send(call) }
        clock.advance(by: .seconds(99))
        #expect(store.demandsHTTPS("a.test", at: clock.date))
        store.note(StrictTransportSecurity(maxAge: 100), of: "a.test", at: clock.date.addingTimeInterval(-99))
        clock.advance(by: .seconds(2))
        try await client.send(call)
        #expect(
            sent(by: client) == [
                "http://a.test/x", "http://a.test/x", "https://a.test/", "https://a.test/x",
                "https://a.test/x", "http://a.test/x",
            ])
    }

    @Test("each hop of a redirect is looked at, and each response of one counts")
    func hops() async throws {
        store.insert("b.test", at: clock.date)
        let client = client {
            $0.on(.get, "/1", .status(302, headers: [.location: "http://b.test/2"]))
            $0.on(
                .get, "/2",
                .status(302, headers: [.location: "https://c.test/3", .strictTransportSecurity: "max-age=0"]))
            $0.on(.get, "/3", .status(204, headers: [.strictTransportSecurity: "max-age=9"]))
        }
        try await client.send(Request<HTTPResponse>.get("/1"))
        #expect(sent(by: client) == ["http://a.test/1", "https://b.test/2", "https://c.test/3"])
        #expect(store.hosts == ["c.test"])
    }

    @Test(
        "port 80 becomes 443, any other stays",
        arguments: [
            ("http://a.test:80/", "https://a.test/"), ("http://a.test:8080/", "https://a.test:8080/"),
            ("http://A.test./", "https://a.test./"),
        ])
    func ports(urls: (asked: String, sent: String)) async throws {
        store.insert("a.test", at: clock.date)
        let client = client { $0.onAny { _ in .status(204) } }
        try await client.send(Request<HTTPResponse>.get(url: urls.asked))
        #expect(sent(by: client) == [urls.sent])
    }

    @Test("a cached response contains no new time, and the first of several fields counts")
    func cached() async throws {
        let client = client(.standard.adding(.caching())) {
            $0.onAny { _ in
                var response = HTTPResponse.status(200, headers: [.cacheControl: "max-age=1000"])
                response.headers.append(.strictTransportSecurity, "max-age=60")
                response.headers.append(.strictTransportSecurity, "max-age=6000")
                return response
            }
        }
        let call = Request<HTTPResponse>.get(url: "https://a.test/")
        try await client.send(call)
        clock.advance(by: .seconds(50))
        let second = try await client.send(call)
        #expect(second.served != .network)
        clock.advance(by: .seconds(11))
        #expect(!store.demandsHTTPS("a.test", at: clock.date))
    }

    @Test("a host represents itself, and for those beneath it if it says so")
    func names() {
        let now = clock.date
        store.note(year, of: "Plain.test.", at: now)
        store.note(yearBeneath, of: "deep.test", at: now)
        for (name, isKnown) in [
            ("plain.test", true), ("PLAIN.TEST", true), ("plain.test.", true), ("sub.plain.test", false),
            ("deep.test", true), ("a.deep.test", true), ("b.a.deep.test", true), ("xdeep.test", false), ("test", false),
            ("deep.test.evil.test", false), ("", false),
        ] {
            #expect(store.demandsHTTPS(name, at: now) == isKnown, "\(name)")
        }
        // A host beneath that ends its own time is still meant by the one above.
        store.note(StrictTransportSecurity(maxAge: 0), of: "a.deep.test", at: now)
        #expect(store.demandsHTTPS("a.deep.test", at: now))
        store.note(StrictTransportSecurity(maxAge: 0), of: "deep.test", at: now)
        #expect(!store.demandsHTTPS("a.deep.test", at: now))
        #expect(store.hosts == ["plain.test"])
    }

    @Test(
        "addresses are not in the list",
        arguments: ["127.0.0.1", "[::1]", "::1", "127.1", "1.2.3.0x7f", "2130706433", "a b"])
    func addresses(host: String) {
        store.note(year, of: host, at: clock.date)
        #expect(store.hosts.isEmpty)
    }

    @Test("the list is bounded: expired hosts are removed first, then the least recently used")
    func bounded() {
        let now = clock.date
        store.note(year, of: "used.test", at: now)
        store.note(StrictTransportSecurity(maxAge: 10), of: "short.test", at: now)
        for number in 0..<3000 {
            #expect(store.demandsHTTPS("used.test", at: now))
            store.note(year, of: "h\(number).evil.test", at: now.addingTimeInterval(20))
        }
        #expect(store.hosts.count == 1000)
        #expect(store.demandsHTTPS("used.test", at: now))
        #expect(!store.demandsHTTPS("short.test", at: now))
        #expect(store.demandsHTTPS("h2999.evil.test", at: now))
        #expect(!store.demandsHTTPS("h1.evil.test", at: now))
    }

    @Test("a file keeps the list for its owner only, and one that cannot be read is left alone")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "hsts-\(UInt64.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("hosts.json").path
        let first = HSTSStore(file: path, time: clock)
        #expect(first.problem == nil)
        first.note(yearBeneath, of: "a.test", at: clock.date)
        first.note(StrictTransportSecurity(maxAge: 10), of: "b.test", at: clock.date)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        clock.advance(by: .seconds(11))
        let second = HSTSStore(file: path, time: clock)
        #expect(second.hosts == ["a.test"])
        #expect(second.demandsHTTPS("sub.a.test", at: clock.date))

        let damaged = Data("{\"version\":2,\"hosts\":[]}".utf8)
        try damaged.write(to: URL(fileURLWithPath: path))
        let third = HSTSStore(file: path, time: clock)
        #expect(third.problem?.reason == .storage)
        third.insert("c.test", at: clock.date)
        #expect(third.hosts == ["c.test"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
    }
}

/// `.httpsOnly()`.
@Suite(.timeLimit(.minutes(1)))
struct HTTPSOnlyTests {
    private func client(_ pipeline: Pipeline) -> APIClient {
        .mock(baseURL: "https://a.test", pipeline: pipeline) { mock in
            mock.on(.get, "/leave", .status(302, headers: [.location: "http://b.test/"]))
            mock.onAny { _ in .status(204) }
        }
    }

    @Test(
        "plain http is refused, and nothing is sent",
        arguments: ["http://b.test/", "http://10.0.0.1/", "http://c.test:81/"])
    func refused(url: String) async throws {
        let client = client(.standard.adding(.httpsOnly(except: "http://c.test")))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Request<HTTPResponse>.get(url: url))
        }
        #expect(error?.reason == .refused(by: .httpsOnly))
        #expect(error?.isRetryable == false)
        #expect(error?.hint?.contains("httpsOnly(except:") == true)
        #expect(client.recordedCalls.isEmpty)
    }

    @Test(
        "this machine, what was named, and https are let through",
        arguments: ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]/", "http://c.test/", "https://b.test/"])
    func allowed(url: String) async throws {
        let client = client(.standard.adding(.httpsOnly(except: "http://c.test")))
        let response = try await client.send(Request<HTTPResponse>.get(url: url))
        #expect(response.status == .noContent)
    }

    @Test("what an interceptor makes of a request counts, and what .hsts() makes of it")
    func changed() async throws {
        let downgrading = client(
            .standard.adding(.httpsOnly()).adding(.onRequest { request, _ in try request.setURL("http://a.test/") }))
        let error = await #expect(throws: NetworkError.self) {
            try await downgrading.send(Request<HTTPResponse>.get("/"))
        }
        #expect(error?.reason == .refused(by: .httpsOnly))

        let store = HSTSStore()
        store.insert("b.test")
        let upgrading = client(.standard.adding(.httpsOnly()).adding(.hsts(store)))
        try await upgrading.send(Request<HTTPResponse>.get(url: "http://b.test/"))
        #expect(upgrading.recordedCalls.map(\.request.urlString) == ["https://b.test/"])
    }

    @Test("an exception that is no origin is a problem of the client", arguments: ["b.test", "http://b.test/path", ""])
    func problem(text: String) {
        #expect(client(.standard.adding(.httpsOnly(except: text))).problems.count == 1)
        #expect(client(.standard.adding(.httpsOnly(except: "http://b.test"))).problems.isEmpty)
    }
}
