// SPDX-License-Identifier: MIT

public import Curlew
import CurlewTesting
import Foundation
import Testing

/// Reports endpoints that the server is going to remove (RFC 8594).
public struct SunsetInterceptor: Interceptor {
    /// The announcement of one endpoint.
    public struct Notice: Hashable, Sendable {
        /// The name of the endpoint.
        public let routeName: String
        /// When the server removes it.
        public let removal: HTTPDate
    }

    let margin: Duration
    let report: @Sendable (Notice) -> Void

    /// Runs once per hop, outside the cache. No response depends on it.
    public var traits: InterceptorTraits {
        var traits = InterceptorTraits(placement: .cookies) { _, _ in .anonymous }
        if margin <= .zero {
            traits.problem = { _ in "The margin is \(margin). Make it positive." }
        }
        return traits
    }

    /// Runs the rest of the chain, then reads the field of the response.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        let now = next.context.time.date
        if let field = response.headers["Sunset"], let removal = HTTPDate(field, now: now),
            removal.date.timeIntervalSince(now) < Double(margin.components.seconds)
        {
            report(Notice(routeName: next.context.routeName, removal: removal))
        }
        return response
    }
}

extension Interceptor where Self == SunsetInterceptor {
    /// Reports endpoints that the server removes within `margin`.
    public static func sunset(
        within margin: Duration = .seconds(30 * 86_400),
        report: @escaping @Sendable (SunsetInterceptor.Notice) -> Void
    ) -> SunsetInterceptor {
        SunsetInterceptor(margin: margin, report: report)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct SunsetTests {
    @Test("A response with Sunset is reported if the removal is near", arguments: [(10, 1), (60, 0)])
    func reports(days: Int, count: Int) async throws {
        let (notices, report) = AsyncStream.makeStream(of: SunsetInterceptor.Notice.self)
        let clock = ManualClock()
        let removal = HTTPDate(clock.date.addingTimeInterval(Double(days) * 86_400))
        let client = APIClient.mock(
            pipeline: [.sunset { report.yield($0) }], configuration: APIClient.Configuration(time: clock)
        ) {
            $0.on(.get, "/old", .text("{}", headers: ["Sunset": removal.description]))
        }
        try await client.send(Request<Void>.get("/old").name("Old"))
        report.finish()
        #expect(await notices.reduce(into: []) { $0.append($1.routeName) } == Array(repeating: "Old", count: count))
    }

    @Test("A margin that is not positive is a problem of the client")
    func problems() {
        let client = APIClient.mock(pipeline: [.sunset(within: .zero) { _ in }]) { _ in }
        #expect(client.problems.count == 1)
    }
}
