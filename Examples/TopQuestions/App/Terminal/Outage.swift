// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import Synchronization

/// Lets one call fail as it does when the service is down, so that there is an error to see without a network.
///
/// The sample server fails what asks for it. As the outermost interceptor this changes the call itself: its retries
/// fail as well.
final class Outage: Interceptor {
    private let isDue = Mutex(false)

    var isOrdered: Bool { isDue.withLock { $0 } }

    /// The next call fails.
    func order() { isDue.withLock { $0 = true } }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let isDue = isDue.withLock { due in
            defer { due = false }
            return due
        }
        var request = request
        if isDue {
            request.appendQuery("fail", "503")
            request.appendQuery("retry_after", "0")
        }
        return try await next(request)
    }
}
#endif
