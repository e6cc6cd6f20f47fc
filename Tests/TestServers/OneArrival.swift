// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation

/// One thing that a server does to a POST, and how the POST comes to it: for the rule that a request which may not be
/// repeated is sent once, whatever happens.
package struct OneArrival: Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the connection has been used before.
    let isWarm: Bool
    let content: RequestContent
    let answer: MockResponse
    /// Whether the server reads and records the request before it does what it does.
    let isRecorded: Bool
    /// Whether only a time limit of the client ends the call.
    let isEndless: Bool

    /// Every fault of `MockServer` at every place, and every status that may pass; on new and used connections, with
    /// and without a body.
    package static var all: [OneArrival] {
        let stages: [MockResponse.Stage] = [
            .beforeRequestRead, .beforeHead, .insideHead, .afterHead, .afterBytes(0), .afterBytes(3),
        ]
        let faults = stages.flatMap { stage in
            MockResponse.Interruption.allCases.map {
                (
                    "\($0) at \(stage)", MockResponse.text("nothing").interrupted(by: $0, at: stage),
                    stage != .beforeRequestRead, $0 == .stall
                )
            }
        }
        let statuses = [408, 429, 500, 502, 503, 504].map { code in
            let headers: HTTPHeaders = ["Retry-After": "0", "X-Should-Retry": "true"]
            return ("status \(code)", MockResponse.status(HTTPStatus(code), headers: headers), true, false)
        }
        let others = [
            ("a head that is none", MockResponse.raw(Data("HTTP/1.1 what\r\n\r\n".utf8)), true, false),
            ("a silent close", MockResponse.status(503).closingSilently(), true, false),
        ]
        let bodies: [(String, RequestContent)] = [
            ("no body", .none), ("a body", .text("pay")),
            ("a stream", .stream(length: 3, replay: .always) { .init(AsyncStream([Data("pay".utf8)])) }),
        ]
        return (faults + statuses + others).flatMap { name, answer, isRecorded, isEndless in
            bodies.flatMap { bodyName, content in
                [false, true].map { isWarm in
                    OneArrival(
                        description: "\(name), \(bodyName), \(isWarm ? "used" : "new") connection", isWarm: isWarm,
                        content: content, answer: answer, isRecorded: isRecorded, isEndless: isEndless)
                }
            }
        }
    }

    /// How often the request reached the server, if the client tries again whatever may be tried again.
    ///
    /// - `key`: the `Idempotency-Key`, with which it may arrive more often.
    /// - `limit`: for the head and for silence, where nothing else ends the call. On a busy machine a short one may
    ///   pass before the request has left.
    /// - `patience`: the same for all others.
    package func arrivals(
        over transport: any Transport, key: String? = nil, limit: Duration = .milliseconds(150),
        patience: Duration = .seconds(10)
    ) async throws -> Int {
        let server = try MockServer()
        server.on(.post, "/pay") { _ in .status(201) }
        let policy = RetryPolicy(attempts: 4, backoff: .constant(.milliseconds(1)))
        let limit = isEndless ? limit : patience
        let timeouts = Timeouts(firstByte: limit, idle: limit, total: .seconds(20))
        let client = APIClient(
            baseURL: BaseURL(stringLiteral: server.url), pipeline: [.redirects(), .retry(policy)], transport: transport,
            configuration: APIClient.Configuration(timeouts: timeouts))
        if isWarm {
            // Without those limits: sent again because it is late, this request would take the trouble away.
            let client = APIClient(baseURL: BaseURL(stringLiteral: server.url), pipeline: [], transport: transport)
            server.enqueue(.text("warm"))
            _ = try await client.send(Request<String>.get("/warm"))
        }
        server.enqueue(answer)
        var request = Request<HTTPResponse>(.post, "/pay", body: content)
        if let key { request = request.header(.idempotencyKey, key) }
        if let response = try? await client.send(request) { _ = try? await response.data() }
        return server.requests.count { $0.path == "/pay" } + (isRecorded ? 0 : 1)
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            elements.forEach { continuation.yield($0) }
            continuation.finish()
        }
    }
}
