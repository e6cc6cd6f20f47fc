// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// What happens to the body of a response that redirects.
@Suite(.timeLimit(.minutes(1)))
struct RedirectBodyTests {
    /// A body that counts what was read of it, and notes when it was dropped.
    final class Source: ResponseBodySource {
        private let state = Locked((given: 0, isCancelled: false))
        private let chunks: Int
        private let end: NetworkError?

        init(chunks: Int, end: NetworkError? = nil) {
            self.chunks = chunks
            self.end = end
        }

        var given: Int { state.withLock { $0.given } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        func next() async throws -> Data? {
            let given = state.withLock { state in
                state.given += 1
                return state.given
            }
            if given <= chunks { return Data(repeating: 0, count: 16 * 1024) }
            if let end { throw end }
            return nil
        }

        func cancel() {
            state.withLock { $0.isCancelled = true }
        }
    }

    /// Follows one redirect whose body is `source`.
    static func follow(_ source: Source, length: Int64? = nil) async throws -> HTTPResponse {
        let next = Next { request, _ in
            guard request.target == "/" else { return HTTPResponse() }
            let body = ResponseBody(source, limit: 1 << 20, length: length)
            return HTTPResponse(status: .found, headers: [.location: "/next"], body: body)
        }
        return try await RedirectInterceptor().intercept(try HTTPRequest(url: "https://a.test/"), next: next)
    }

    @Test("A redirect's short body is read to its end, so that the connection can be used again")
    func drained() async throws {
        let source = Source(chunks: 4)
        #expect(try await Self.follow(source).status == .ok)
        #expect(source.given == 5, "four chunks and the end")
    }

    @Test("A redirect's long body is dropped after 64 KiB, or at once if its length is declared")
    func long() async throws {
        let endless = Source(chunks: .max)
        #expect(try await Self.follow(endless).status == .ok)
        #expect(endless.given == 5)
        #expect(endless.isCancelled)
        let declared = Source(chunks: .max)
        #expect(try await Self.follow(declared, length: 64 * 1024 + 1).status == .ok)
        #expect(declared.given == 0)
        #expect(declared.isCancelled)
    }

    @Test("A redirect's body that breaks off ends no call; cancellation and deadlines do")
    func broken() async throws {
        let lost = Source(chunks: 1, end: NetworkError(.connectionLost(.requestMayHaveArrived)))
        #expect(try await Self.follow(lost).status == .ok)
        for reason in [NetworkError.Reason.cancelled, .timedOut(.total)] {
            let error = await #expect(throws: NetworkError.self) {
                try await Self.follow(Source(chunks: 1, end: NetworkError(reason)))
            }
            #expect(error?.reason == reason)
        }
    }

    @Test("A refused redirect's body is dropped, a delivered one is untouched")
    func refusedAndDelivered() async throws {
        let source = Source(chunks: 1)
        let next = Next { _, _ in
            let body = ResponseBody(source, limit: 1 << 20, length: nil)
            return HTTPResponse(status: .found, headers: [.location: "ftp://a.test/"], body: body)
        }
        let request = try HTTPRequest(url: "https://a.test/")
        await #expect(throws: NetworkError.self) { try await RedirectInterceptor().intercept(request, next: next) }
        #expect(source.isCancelled && source.given == 0)
        let other = Source(chunks: 1)
        let manual = try await RedirectInterceptor(.manual).intercept(
            request,
            next: Next { _, _ in
                HTTPResponse(status: .found, body: ResponseBody(other, limit: 1 << 20, length: nil))
            })
        #expect(try await manual.data().count == 16 * 1024)
    }
}
