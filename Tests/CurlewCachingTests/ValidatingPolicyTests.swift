// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ValidatingPolicyTests {
    private static func fresh(_ text: String, tag: String = "\"1\"") -> HTTPResponse {
        .text(text, headers: [.cacheControl: "max-age=600, stale-if-error=600", .eTag: tag])
    }

    @Test("The validating policy revalidates a fresh response, and uses it after a 304")
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

    @Test("The validating policy takes and keeps a new response of the server")
    func replaced() async throws {
        let fixture = CacheFixture { call in
            call.request.headers.contains(.ifNoneMatch) ? Self.fresh("second", tag: "\"2\"") : Self.fresh("first")
        }
        _ = try await fixture.text()
        #expect(try await fixture.send { $0.cachePolicy = .validate }.text() == "second")
        #expect(try await fixture.text() == "second")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("The validating policy keeps the server's response where nothing is stored")
    func first() async throws {
        let fixture = CacheFixture { _ in Self.fresh("first") }
        #expect(try await fixture.send { $0.cachePolicy = .validate }.text() == "first")
        #expect(fixture.transport.requests.first?.request.headers[.cacheControl] == "no-cache")
        #expect(try await fixture.text() == "first")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("The validating policy serves no stored response if the server fails or is away")
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
