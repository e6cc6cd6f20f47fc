// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Refuses what would leave over plain http. Made by `.httpsOnly()`.
///
/// It stands next to the transport, so it sees each hop, each attempt, and what other interceptors made of the request.
/// `.hsts()` has had its turn. Requests to this machine (`Origin.isLoopback`) and to origins that were named are let
/// through; any other ends with `.refused(by: .httpsOnly)`, without a byte sent and without a retry. What goes past the
/// pipeline, such as the refreshing of tokens, has rules of its own.
public struct HTTPSOnlyInterceptor: ValidatingInterceptor {
    private let exceptions: [String]

    /// - `exceptions`: origins that may be asked over http: `"http://printer.example:631"`. One that cannot be read is a
    ///   problem of the client.
    public init(except exceptions: [String] = []) {
        self.exceptions = exceptions
    }

    /// `.wire`, the innermost place.
    public var placement: Placement { .wire }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, or refuses.
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

    /// An exception that is no origin.
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
