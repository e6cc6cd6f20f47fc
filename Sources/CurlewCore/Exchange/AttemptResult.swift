// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What came of one attempt, for rules of the app: of `.retry`, `.circuitBreaker` and `.fallback`.
///
///     .retry(when: { $0.status == .forbidden && $0.headers.contains(.retryAfter) ? .retry : .usual })
///
/// Rules are called synchronously on the task of the call, and must be quick.
public struct AttemptResult: Sendable {
    /// What was sent, as the policy saw it: without what interceptors further in attach.
    public let request: HTTPRequest
    /// The name of the call's route.
    public let routeName: String
    /// Which attempt it was, counted from one.
    public let number: Int
    /// The response, if there was one. Its body is read by the caller: rules use `body`.
    let response: HTTPResponse?
    /// Why there was no response; nil if there was one, whatever its status.
    public let error: NetworkError?

    /// A result of one's own, for tests of rules. Give it either a response or an error.
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

    /// The status, if a response came.
    public var status: HTTPStatus? { response?.status ?? error?.response?.status }

    /// The header fields of the response; empty if none came.
    public var headers: HTTPHeaders { response?.headers ?? error?.response?.headers ?? [:] }

    /// The whole body of the response, if it came with the head and has at most 1 MiB: that of every small response of a
    /// call that does not stream. Nil for longer bodies, and for those that arrive after their head.
    public var body: Data? {
        guard let data = response?.body.bufferedData, data.count <= Self.mostBody else { return nil }
        return data
    }

    /// What came of it.
    public var outcome: Attempt.Outcome {
        if let response { return .status(response.status) }
        return error.map { Attempt.Outcome($0) } ?? .failed(.cancelled)
    }

    private static let mostBody = 1 << 20
}

extension AttemptResult: CustomStringConvertible, CustomReflectable {
    /// `attempt 2 of GET https://host/path: status 503`
    public var description: String { "attempt \(number) of \(request): \(outcome)" }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
