// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Refuses requests over plain http. For the rules, see `.httpsOnly(except:)`.
package struct HTTPSOnlyInterceptor: ValidatingInterceptor {
    private let exceptions: [String]

    /// Creates an interceptor that allows plain http to loopback hosts and to the origins in `exceptions`.
    public init(except exceptions: [String] = []) {
        self.exceptions = exceptions
    }

    /// The placement `.wire`. The interceptor runs next to the transport, once per request on the wire.
    public var placement: Placement { .wire }

    /// Returns `.anonymous`, because the interceptor changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the pipeline. Throws `.refused(by: .httpsOnly)` if the request would be sent unencrypted.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let origin = request.origin
        guard origin.isSecure || origin.isLoopback || exceptions.contains(where: { Self.origin($0) == origin }) else {
            throw NetworkError(
                .refused(by: .httpsOnly), detail: "The request to \(origin) would be sent unencrypted.",
                hint: "Use https. If plain http is intended, name the origin: .httpsOnly(except: \"\(origin)\").",
                request: NetworkError.RequestLine(request))
        }
        return try await next(request)
    }

    /// Returns an error if an exception is not an origin.
    public func problem(in setup: Pipeline.Environment) -> String? {
        exceptions.first { Self.origin($0) == nil }.map {
            "HTTPSOnly: \"\($0.clipped(to: 80).printable)\" is not an origin. Write http://printer.example:631."
        }
    }

    private static func origin(_ text: String) -> Origin? {
        (try? HTTPRequest(url: text)).flatMap { $0.target == "/" ? $0.origin : nil }
    }
}

extension HTTPSOnlyInterceptor: CustomStringConvertible {
    /// `HTTPSOnly`, followed by the exceptions if there are any.
    public var description: String {
        exceptions.isEmpty ? "HTTPSOnly" : "HTTPSOnly(except \(exceptions.joined(separator: ", ").printable))"
    }
}
