// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Refuses requests over plain http. For the rules, see `.httpsOnly(except:)`.
package struct HTTPSOnlyInterceptor: Interceptor {
    private let exceptions: [String]

    package init(except exceptions: [String]) {
        self.exceptions = exceptions
    }

    package var traits: InterceptorTraits { InterceptorTraits(.wire, runsInPreview: true, problem: problem(in:)) }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let origin = request.origin
        guard origin.isSecure || origin.isLoopback || exceptions.contains(where: { Self.origin($0) == origin }) else {
            throw NetworkError(
                .refused(by: .httpsOnly), detail: "The request to \(origin) would be sent unencrypted.",
                hint: "Use https. If plain http is intended, name the origin: .httpsOnly(except: \"\(origin)\").",
                request: NetworkError.RequestLine(request))
        }
        return try await next(request)
    }

    private func problem(in setup: Pipeline.Environment) -> String? {
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

extension Interceptor where Self == BuiltInInterceptor {
    /// Refuses requests over plain http, except to loopback hosts and to the listed origins:
    /// `.httpsOnly(except: "http://printer.example")`.
    ///
    /// The interceptor is next to the transport, so it sees each hop, each attempt, and the request after all changes
    /// by other interceptors. Requests to loopback hosts (`Origin.isLoopback`) and to the listed
    /// origins are allowed. Any other request over plain http fails with `.refused(by: .httpsOnly)`. Nothing is sent,
    /// and the request is not retried. Requests that bypass the pipeline, such as token refreshes, have separate rules.
    ///
    /// - `origins`: origins that may be accessed over http, such as `"http://printer.example:631"`. If one cannot be
    ///   parsed, every call throws `.configuration`.
    public static func httpsOnly(except origins: String...) -> BuiltInInterceptor { httpsOnly(except: origins) }

    /// Refuses requests over plain http, except to loopback hosts and to the origins in a list.
    public static func httpsOnly(except origins: [String]) -> BuiltInInterceptor {
        BuiltInInterceptor(HTTPSOnlyInterceptor(except: origins))
    }
}

extension NetworkError.Policy {
    /// The policy of `.httpsOnly()`. It refuses a request that would be sent over plain http.
    public static let httpsOnly = NetworkError.Policy("httpsOnly")
}
