// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Testing

@Suite("HTTPCache.Policy.validate", .timeLimit(.minutes(1)))
struct ValidatingPolicyTests {
    private static func fresh(_ text: String, tag: String = "\"1\"") -> HTTPResponse {
        .text(text, headers: [.cacheControl: "max-age=600, stale-if-error=600", .eTag: tag])
    }

    @Test("asks whether what is fresh is still good, says so to caches on the way, and takes it after a 304")
    func validated() async throws {
        let fixture = CacheFixture { call in
            call.request.headers.contains(.ifNoneMatch) ? .status(.notModified) : Self.fresh("first")
        }
        #expect(try await fixture.text() == "first")
        #expect(try await fixture.text() == "first")
        #expect(fixture.transport.requestCount == 1)
        let response = try await fixture.send { $0.cachePolicy = .validate }
        #expect(try await response.text() == "first")
        #expect(fixture.transport.requestCount == 2)
        let asked = try #require(fixture.transport.requests.last).request.headers
        #expect(asked[.ifNoneMatch] == "\"1\"" && asked[.cacheControl] == "no-cache")
    }

    @Test("takes and keeps what the server sends instead")
    func replaced() async throws {
        let fixture = CacheFixture { call in
            call.request.headers.contains(.ifNoneMatch) ? Self.fresh("second", tag: "\"2\"") : Self.fresh("first")
        }
        _ = try await fixture.text()
        #expect(try await fixture.send { $0.cachePolicy = .validate }.text() == "second")
        #expect(try await fixture.text() == "second")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("with nothing stored the response is the server's, and is kept")
    func first() async throws {
        let fixture = CacheFixture { _ in Self.fresh("first") }
        #expect(try await fixture.send { $0.cachePolicy = .validate }.text() == "first")
        #expect(fixture.transport.requests.first?.request.headers[.cacheControl] == "no-cache")
        #expect(try await fixture.text() == "first")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("nothing replaces a server that fails or is away")
    func failing() async throws {
        let isAway = Locked(false)
        let isBroken = Locked(false)
        let fixture = CacheFixture { _ in
            if isAway.withLock({ $0 }) { throw NetworkError(.unreachable) }
            return isBroken.withLock { $0 } ? .status(.serviceUnavailable) : Self.fresh("first")
        }
        _ = try await fixture.text()
        isBroken.withLock { $0 = true }
        #expect(try await fixture.send { $0.cachePolicy = .validate }.status == .serviceUnavailable)
        isAway.withLock { $0 = true }
        await #expect(throws: NetworkError(.unreachable)) {
            try await fixture.send { $0.cachePolicy = .validate }
        }
        #expect(try await fixture.text() == "first")
    }
}
