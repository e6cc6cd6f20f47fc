// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The result of one attempt, as rules of `.retry`, `.circuitBreaker` and `.fallback` receive it.
///
///     .retry(when: { $0.status == .forbidden && $0.headers.contains(.retryAfter) ? .retry : .usual })
///
/// Rules are called synchronously on the task of the call and must return quickly.
public struct AttemptResult: Sendable {
    /// The request as the policy saw it, without what interceptors closer to the transport add.
    public let request: HTTPRequest
    /// The name of the call's route.
    public let routeName: String
    /// The number of the attempt, counted from one.
    public let number: Int
    /// The response, if there was one. Its body belongs to the caller; rules use `body`.
    package let response: HTTPResponse?
    /// The error, if no response arrived; nil for a response of any status.
    public let error: NetworkError?

    /// Creates a result, for tests of rules. Pass either a response or an error.
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

    /// The status, if a response arrived.
    public var status: HTTPStatus? { response?.status ?? error?.response?.status }

    /// The header fields of the response; empty if no response arrived.
    public var headers: HTTPHeaders { response?.headers ?? error?.response?.headers ?? [:] }

    /// The whole body of the response, if it arrived together with the head and has at most 1 MiB. This is the case for
    /// every small response of a call that does not stream. Nil for longer bodies and for bodies that arrive after
    /// their head.
    public var body: Data? {
        guard let data = response?.body.bufferedData, data.count <= Self.mostBody else { return nil }
        return data
    }

    /// The outcome of the attempt.
    public var outcome: Attempt.Outcome {
        if let response { return .status(response.status) }
        return error.map { Attempt.Outcome($0) } ?? .failed(.cancelled)
    }

    private static let mostBody = 1 << 20
}

extension AttemptResult: CustomStringConvertible, CustomReflectable {
    /// One line: `attempt 2 of GET https://host/path: status 503`.
    public var description: String { "attempt \(number) of \(request): \(outcome)" }

    /// Shows the description only. Debuggers and `dump` use it.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
