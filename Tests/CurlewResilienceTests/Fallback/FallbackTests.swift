// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct FallbackTests {
    final class Notices: RequestObserver {
        let all = Locked<[Pipeline.PolicyEvent]>([])

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            if case .feature(let notice as Pipeline.PolicyEvent) = event { all.withLock { $0.append(notice) } }
        }
    }

    let notices = Notices()

    func client(_ fallback: BuiltInInterceptor, _ configure: (MockTransport) -> Void) -> APIClient {
        .mock(
            pipeline: Pipeline.standard.adding(.caching()).adding(fallback),
            configuration: .init(observers: [notices], time: ManualClock.skippingWaits), configure)
    }

    @Test("A fallback responds once all else has failed, and is named everywhere")
    func visible() async throws {
        let client = client(.fallback { request, error in .text("saved \(request.target) \(error.attempts.count)") }) {
            $0.onAny { _ in .status(503) }
        }
        let response = try await client.response(for: Request<String>.get("/rates"))
        #expect(response.value == "saved /rates 3")
        #expect(client.recordedCalls.count == 3)
        #expect(response.served == .fallback)
        #expect(response.attempts.map(\.outcome) == [.status(503), .status(503), .status(503)])
        #expect(response.attempts.last?.notes == ["response from the fallback"])
        #expect(notices.all.withLock { $0.map(\.kind) } == [.fellBack])
    }

    @Test("No cache keeps a fallback: the next call asks the server")
    func notKept() async throws {
        let isWell = Locked(false)
        let client = client(.fallback { _, _ in .text("saved", headers: [.cacheControl: "max-age=3600"]) }) {
            $0.onAny { _ in
                isWell.withLock { $0 } ? .text("fresh", headers: [.cacheControl: "max-age=3600"]) : .status(500)
            }
        }
        #expect(try await client.send(Request<String>.get("/")) == "saved")
        let response = try await client.send(Request<HTTPResponse>(.get, "/"))
        #expect(response.headers[.cacheControl] == "no-store", "also for caches further out")
        isWell.withLock { $0 = true }
        #expect(try await client.send(Request<String>.get("/")) == "fresh")
    }

    static let outcomes: [(NetworkError.Reason, Bool)] = [
        (.status(500), true), (.status(501), true), (.status(429), true), (.status(404), false), (.status(401), false),
        (.unreachable, true), (.timedOut(.total), true), (.connectionLost(.requestMayHaveArrived), true),
        (.badResponse, true), (.refused(by: .circuitBreaker), true), (.secureConnectionFailed(.pinMismatch), false),
        (.cancelled, false), (.invalidRequest, false), (.notAuthenticated(.missingCredential), false),
    ]

    @Test("A fallback covers outages, and not mistakes of the caller", arguments: outcomes)
    func outages(reason: NetworkError.Reason, falls: Bool) async throws {
        let client = client(.fallback { _, _ in .text("saved") }) {
            $0.onAny { _ in
                if case .status(let status) = reason { return .status(status) }
                throw NetworkError(reason)
            }
        }
        let answer = try? await client.send(Request<String>.get("/"))
        #expect(answer == (falls ? "saved" : nil))
    }

    @Test(
        "nil leaves the failure; an error replaces it; a rule chooses; accepted statuses are none")
    func choices() async throws {
        let nothing = client(.fallback { _, _ in nil }) { $0.onAny { _ in .status(503) } }
        let kept = await nothing.failure(Request<String>.get("/"))
        #expect(kept?.statusCode == 503 && kept?.attempts.count == 3)
        struct Broken: Error {}
        let throwing = client(.fallback { _, _ in throw Broken() }) { $0.onAny { _ in .status(503) } }
        let thrown = await throwing.failure(Request<String>.get("/"))
        #expect(thrown?.underlying is Broken)
        let only404 = client(.fallback(when: \.isNotFound) { _, error in .text("none: \(error.statusCode ?? 0)") }) {
            $0.onAny { $0.request.target == "/404" ? .status(404) : .status(503) }
        }
        #expect(try await only404.send(Request<String>.get("/404")) == "none: 404")
        #expect(try await only404.send(Request<HTTPResponse>(.get, "/")).status == 503)
        let accepting = client(.fallback { _, _ in .text("saved") }) { $0.onAny { _ in .status(503) } }
        let call = Request<String>.get("/").options { $0.acceptedStatuses = [503] }
        #expect(try await accepting.send(call) == "")
    }
}
