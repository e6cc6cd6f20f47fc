// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension RetryPolicy {
    /// The result of one attempt, as the closures of `.retry` receive it.
    ///
    ///     .retry(when: { $0.status == .forbidden && $0.headers.contains(.retryAfter) ? .retry : .usual })
    ///
    /// The closures are called on the task of the call. Those that classify an outcome are synchronous and must return
    /// quickly.
    public struct AttemptResult: Sendable {
        /// The request as the interceptor received it, without the fields that interceptors closer to the transport
        /// add.
        public let request: HTTPRequest
        /// The name of the route of the call; empty if it has none.
        public let routeName: String
        /// The number of the attempt in the call, counted from one.
        public let number: Int
        /// The response, if one arrived. Its body belongs to the caller; app-defined rules read `body` instead.
        let response: HTTPResponse?
        /// The error that the attempt threw; nil if a response arrived, whatever its status.
        public let error: NetworkError?

        /// Creates a result, for tests of app-defined rules. Pass either a response or an error.
        public init(
            _ request: HTTPRequest, routeName: String = "", number: Int = 1, response: HTTPResponse? = nil,
            error: NetworkError? = nil
        ) {
            self.request = request
            self.routeName = routeName
            self.number = number
            self.response = response
            self.error = error
        }

        /// The status of the response, or of the response in `error`; nil if no response arrived.
        public var status: HTTPStatus? { response?.status ?? error?.response?.status }

        /// The header fields of the response, or of the response in `error`; empty if no response arrived.
        public var headers: HTTPHeaders { response?.headers ?? error?.response?.headers ?? [:] }

        /// The complete response body, if it arrived together with the head and has at most 1 MiB; nil otherwise.
        ///
        /// Every small response of a call that does not stream arrives this way.
        public var body: Data? {
            guard let data = response?.body.bufferedData, data.count <= Self.maximumBody else { return nil }
            return data
        }

        /// The outcome of the attempt: the status of the response, or the reason of the error.
        public var outcome: NetworkError.Attempt.Outcome {
            if let response { return .status(response.status) }
            return error.map { NetworkError.Attempt.Outcome($0) } ?? .failed(.cancelled)
        }

        private static let maximumBody = 1 << 20
    }
}

extension RetryPolicy.AttemptResult: MirroredByDescription {
    /// A description on one line, such as `attempt 2 of GET https://host/path: status 503`.
    public var description: String { "attempt \(number) of \(request): \(outcome)" }
}
