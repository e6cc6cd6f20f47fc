// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes of one server, with their common behaviour: requested faults, refusals, and the fields of responses.
struct SampleRoutes {
    private var entries: [(pattern: RoutePattern, handler: MockServer.Handler)] = []

    /// Adds a route. If the handler throws a ``Refusal``, the response of the refusal is sent. If the content of the
    /// request is not the expected JSON, the response is a 400.
    mutating func on(_ method: HTTPMethod, _ path: String, _ handler: @escaping MockServer.Handler) {
        entries.append((RoutePattern(method, path), handler))
    }

    /// Adds these routes to the server, and a list of them at the path `/`.
    func install(on server: MockServer) {
        for (pattern, handler) in entries {
            server.on(pattern.method, pattern.path) { Self.response(to: $0, by: handler) }
        }
        let index = Index(routes: entries.map(\.pattern.description))
        server.on(.get, "/") { _ in .json(index) }
    }

    private struct Index: Encodable {
        let routes: [String]
    }

    private static func response(to request: RecordedRequest, by handler: MockServer.Handler) -> MockResponse {
        var response: MockResponse
        do {
            let demand = try FaultDemand(request)
            response = try demand.failure ?? handler(request)
            if let delay = demand.delay { response = response.delayed(by: delay) }
        } catch let refusal as Refusal {
            response = refusal.response
        } catch is DecodingError {
            response = Refusal(.badRequest, "The content is not valid for this call.", code: "bad_content").response
        } catch {
            response = .problem(.internalServerError, "\(error)")
        }
        var reply: HTTPHeaders = ["X-Credentials-Received": credentials(of: request)]
        reply[.xRequestID] = request.headers[.xRequestID]
        return response.with(headers: reply)
    }

    /// Returns the scheme of the Authorization field in lowercase, such as "bearer", without the credential; "none" if
    /// there is no such field.
    private static func credentials(of request: RecordedRequest) -> String {
        guard let value = request.headers[.authorization] else { return "none" }
        return value.prefix { $0 != " " }.lowercased()
    }
}

/// The faults that a request specifies in its query.
private struct FaultDemand {
    var failure: MockResponse?
    var delay: Duration?

    init(_ request: RecordedRequest) throws(Refusal) {
        let status = try request.number("fail", from: 400...599, orElse: 0)
        if status != 0 {
            let wait = try request.number("retry_after", from: 0...3600, orElse: 2)
            failure = Self.failure(HTTPStatus(status), retryAfter: wait)
        }
        let milliseconds = try request.number("delay", from: 0...30_000, orElse: 0)
        if milliseconds > 0 { delay = .milliseconds(milliseconds) }
    }

    private static func failure(_ status: HTTPStatus, retryAfter: Int) -> MockResponse {
        let phrase = status.reasonPhrase.isEmpty ? "Failed" : status.reasonPhrase
        let response = Refusal(status, "\(phrase), as requested.", code: "on_demand").response
        guard status == .tooManyRequests || status == .serviceUnavailable else { return response }
        return response.with(headers: [.retryAfter: "\(retryAfter)"])
    }
}
