// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Refuses requests over plain http, except to loopback hosts (`Origin.isLoopback`) and to the listed origins:
    /// `.httpsOnly(except: ["http://printer.example"])`.
    ///
    /// The interceptor is next to the transport, so it sees each hop, each attempt, and the request after all changes
    /// by other interceptors. A refused request fails with `.refused(by: .httpsOnly)`, and is neither sent nor retried.
    /// Requests that bypass the pipeline, such as token refreshes, have separate rules.
    ///
    /// - `origins`: origins that may be accessed over http, such as `"http://printer.example:631"`. If one cannot be
    ///   parsed, every call throws `.configuration`.
    public static func httpsOnly(except origins: [String] = []) -> BuiltInInterceptor {
        let parsed = origins.map { text in
            (try? HTTPRequest(url: text)).flatMap { $0.target == "/" ? $0.origin : nil }
        }
        let exceptions = parsed.compactMap(\.self)
        var traits = InterceptorTraits(.wire, runsInPreview: true)
        if let index = parsed.firstIndex(of: nil) {
            let text = origins[index].clipped(to: 80).printable
            traits.problem = { _ in
                "HTTPSOnly: \"\(text)\" is not an origin. Write http://printer.example:631."
            }
        }
        let name = origins.isEmpty ? "HTTPSOnly" : "HTTPSOnly(except \(origins.joined(separator: ", ").printable))"
        return BuiltInInterceptor(name, traits) { request, next in
            let origin = request.origin
            guard origin.isConfidential || exceptions.contains(origin) else {
                throw NetworkError(
                    .refused(by: .httpsOnly), detail: "The request to \(origin) would be sent unencrypted.",
                    hint: "Use https. If plain http is intended, name it: .httpsOnly(except: [\"\(origin)\"]).",
                    request: NetworkError.RequestLine(request))
            }
            return try await next(request)
        }
    }
}

extension NetworkError.Policy {
    /// The policy of `.httpsOnly()`. It refuses a request that would be sent over plain http.
    public static let httpsOnly = NetworkError.Policy("httpsOnly")
}
