// SPDX-License-Identifier: MIT

import Curlew

/// Prints each call: method, what came of it, time, path. An interceptor of one's own is one method.
struct CallPrinter: Interceptor {
    /// The origin that is left out.
    let home: String

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let start = next.context.time.now
        func report(_ outcome: String) {
            // A request line has its secrets taken out already.
            let url = RequestLine(request).url
            let path = url.hasPrefix(home + "/") ? String(url.dropFirst(home.count)) : url
            print(Terminal.call("\(request.method)", outcome, start.duration(to: next.context.time.now), path))
        }
        do {
            let response = try await next(request)
            report("\(response.status.code)")
            return response
        } catch {
            report(NetworkError(error).label)
            throw error
        }
    }
}
