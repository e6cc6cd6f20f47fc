// SPDX-License-Identifier: MIT

/// Runs the rest of the chain a given number of times, each time as another attempt.
package struct RepeatingInterceptor: Interceptor {
    let times: Int

    package init(times: Int) {
        self.times = times
    }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var last = HTTPResponse()
        for attempt in 1...times {
            var context = next.context
            context.attempt = attempt
            last = try await next(request, context: context)
        }
        return last
    }
}
