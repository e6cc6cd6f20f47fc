// SPDX-License-Identifier: MIT

import Curlew
import ExampleSupport

/// Prints each call: method, result, time, path. A custom interceptor is one method.
struct CallPrinter: Interceptor {
    /// The origin that is left out.
    let home: String

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let start = next.context.time.now
        func report(_ outcome: String) {
            // A request line has its secrets taken out already.
            let url = NetworkError.RequestLine(request).url
            let path = url.hasPrefix(home + "/") ? String(url.dropFirst(home.count)) : url
            let status = outcome.padded(to: 14)
            let room = Look.columns - 37
            let shown = path.count > room ? path.prefix(room - 1) + "…" : path[...]
            let time = Look.milliseconds(start.duration(to: next.context.time.now)).aligned(to: 9)
            print(
                "    " + Look.bold("\(request.method)".padded(to: 7))
                    + (outcome.first == "2" ? Look.green : Look.yellow)(status)
                    + Look.dim(time) + "  " + shown)
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
