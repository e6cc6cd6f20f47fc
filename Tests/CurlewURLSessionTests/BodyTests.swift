// SPDX-License-Identifier: MIT

import ConformanceCases
import TestServers
import Testing

@testable import CurlewURLSession

/// Bodies in both directions.
@Suite(.timeLimit(.minutes(1)))
struct BodyTests {
    private let transport = URLSessionTransport()

    private func echo() throws -> MockServer {
        let server = try MockServer()
        server.on(nil, "/echo") { .data($0.body) }
        return server
    }

    @Test("A body without a type gets no form's type from Foundation")
    func contentType() async throws {
        #if canImport(Darwin)
        let expected = "application/octet-stream"
        #else
        let expected: String? = nil
        #endif
        let server = try echo()
        _ = try await transport.exchange(.post, server.url + "/echo", body: .bytes(Data("a=1".utf8)))
        #expect(server.requests.map { $0.headers[.contentType] } == [expected])
    }

    #if !canImport(Darwin)
    @Test("A stream that is too long for its file fails")
    func longStream() async throws {
        let long = try UploadPlan(.stream { .init(Produced([pattern(1001)])) })
        await #expect { try await long.produced(memory: 100, limit: 1000) { true } } throws: {
            ($0 as? NetworkError)?.reason == .encoding
        }
    }
    #endif

    @Test("No file is left behind by a long stream")
    func spool() async throws {
        let server = try echo()
        let folder = FileManager.default.temporaryDirectory.path
        func left() -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.count { $0.hasPrefix("curlew-") && $0.hasSuffix(".body") }
        }
        let body = RequestBody.stream { .init(Produced([pattern(3_000_000)])) }
        for _ in 0..<3 {
            let response = try await transport.exchange(.post, server.url + "/echo", body: body)
            #expect(try await response.data() == pattern(3_000_000))
        }
        // Those of tests beside this one go away too.
        #expect(await eventually { left() == 0 })
    }

    #if !canImport(Darwin)
    @Test("A reader that stays too far behind gets an error, not all the memory")
    func reader() async throws {
        let server = try MockServer.always(.generated(bytes: 40_000_000))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.body.declaredLength == 40_000_000)
        #expect(await eventually { transport.snapshot.active == 0 })
        await #expect { try await response.data() } throws: {
            ($0 as? NetworkError)?.reason == .limitExceeded(.responseBody)
        }
    }
    #endif

    @Test("GET and HEAD carry no body", arguments: [HTTPMethod.get, .head])
    func refused(method: HTTPMethod) async throws {
        let error = await transport.failure(method, "http://127.0.0.1:1/", body: .bytes(Data("x".utf8)))
        #expect(error?.reason == .invalidRequest)
    }
}
