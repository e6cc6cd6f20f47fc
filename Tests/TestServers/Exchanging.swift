// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP
package import CurlewTesting
package import Foundation

extension Transport {
    /// One exchange with everything at its default that a test does not mention.
    package func exchange(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: RequestBody = .empty,
        timeouts: Timeouts = .standard, limits: Limits = .standard, observers: [any RequestObserver] = [],
        options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var options = RequestOptions()
        change(&options)
        let context = ExchangeContext(options: options, timeouts: timeouts, limits: limits, observers: observers)
        do {
            let response = try await send(HTTPRequest(method, url: url, headers: headers, body: body), in: context)
            await context.eventsDelivered()
            return response
        } catch {
            await context.eventsDelivered()
            throw error
        }
    }

    /// The error that one exchange ends with, in its head or its body; nil if there is none.
    package func failure(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: RequestBody = .empty,
        timeouts: Timeouts = .standard, limits: Limits = .standard,
        options change: (inout RequestOptions) -> Void = { _ in }
    ) async -> NetworkError? {
        do {
            let response = try await exchange(
                method, url, headers: headers, body: body, timeouts: timeouts, limits: limits, options: change)
            _ = try await response.data()
            return nil
        } catch {
            return error as? NetworkError
        }
    }
}

extension MockServer {
    /// A server that answers every request for `/` like this.
    package static func always(_ response: MockResponse, to method: HTTPMethod? = .get) throws -> MockServer {
        let server = try MockServer()
        server.on(method, "/", respond: response)
        return server
    }

    /// A server that answers its first requests like this, one after the other.
    package static func answering(_ responses: MockResponse...) throws -> MockServer {
        let server = try MockServer()
        for response in responses { server.enqueue(response) }
        return server
    }
}

/// The first bytes of what the servers of the tests send.
package func pattern(_ count: Int) -> Data {
    MockResponse.pattern(0..<count)
}
