// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Refuses requests over plain http. Created by `.httpsOnly()`.
///
/// It is next to the transport, so it sees each hop, each attempt, and the request as other interceptors changed it,
/// `.hsts()` included. Requests to this machine (`Origin.isLoopback`) and to the listed origins are allowed. Any other
/// ends with `.refused(by: .httpsOnly)`, without sending a byte and without a retry. Requests that bypass the pipeline,
/// such as token refreshes, have separate rules.
public struct HTTPSOnlyInterceptor: ValidatingInterceptor {
    private let exceptions: [String]

    /// Creates an interceptor.
    ///
    /// - `exceptions`: origins that may be accessed over http: `"http://printer.example:631"`. One that cannot be
    ///   parsed is a problem of the client.
    public init(except exceptions: [String] = []) {
        self.exceptions = exceptions
    }

    /// `.wire`, the innermost placement.
    public var placement: Placement { .wire }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, or throws.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let origin = request.origin
        guard origin.isSecure || origin.isLoopback || exceptions.contains(where: { Self.origin($0) == origin }) else {
            throw NetworkError(
                .refused(by: .httpsOnly), detail: "The request to \(origin) would leave unencrypted.",
                hint: "Write https. If plain http is meant, name the origin: .httpsOnly(except: \"\(origin)\").",
                request: RequestLine(request))
        }
        return try await next(request)
    }

    /// Reports an exception that is not an origin.
    public func problem(in setup: PipelineSetup) -> String? {
        exceptions.first { Self.origin($0) == nil }.map {
            "HTTPSOnly: \"\($0.clipped(to: 80).printable)\" is no origin. Write http://printer.example:631."
        }
    }

    private static func origin(_ text: String) -> Origin? {
        (try? HTTPRequest(url: text)).flatMap { $0.target == "/" ? $0.origin : nil }
    }
}

extension HTTPSOnlyInterceptor: CustomStringConvertible {
    /// `HTTPSOnly`, with the exceptions if there are some.
    public var description: String {
        exceptions.isEmpty ? "HTTPSOnly" : "HTTPSOnly(except \(exceptions.joined(separator: ", ").printable))"
    }
}
