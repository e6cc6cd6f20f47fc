// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Sends the cookies of a store and stores the cookies that servers set. For the rules, see `.cookies(_:)`.
struct CookieInterceptor: Interceptor {
    let store: CookieStore

    /// At `.cookies`, the interceptor runs once per hop and is closer to the caller than caches, which receive requests
    /// with the cookies. Elsewhere, the principal of a request that may receive cookies from the store is unknown.
    var traits: InterceptorTraits {
        InterceptorTraits(.cookies, runsInPreview: true) { request, _ in
            request.headers.contains(.cookie) ? .anonymous : .unknown
        }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        var request = request
        if !request.headers.contains(.cookie),
            let field = store.header(for: request, isCrossSite: isCrossSite(request, context), at: context.time.date)
        {
            request.headers[.cookie] = field
            if context.crossedOrigin { context.hopFields[.cookie] = field }
        }
        let response = try await next(request, context: context)
        let lines = response.headers[values: .setCookie]
        guard !lines.isEmpty else { return response }
        for (line, refusal) in store.take(lines, from: request, at: context.time.date) {
            context.record(.feature(CookieStore.Event.refused(refusal, name: Self.name(in: line))))
        }
        return response
    }

    /// Returns whether a redirect from another site (a scheme and a registrable domain) led to the request.
    private func isCrossSite(_ request: HTTPRequest, _ context: ExchangeContext) -> Bool {
        guard context.crossedOrigin else { return false }
        let suffixes = store.publicSuffixes
        let site = suffixes.site(of: request.origin.host)
        return context.pastOrigins.contains {
            $0.scheme != request.origin.scheme || suffixes.site(of: $0.host) != site
        }
    }

    /// Returns the name of a cookie for a log: the text before the first "=" or ";".
    private static func name(in line: String) -> String {
        let end = line.utf8.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
        // Without "=", the whole text is the value, and therefore secret.
        guard let end, line.utf8[end] == UInt8(ascii: "=") else { return "" }
        return String(line[..<end]).joinedLines.clipped(to: 64).printable
    }
}

extension CookieInterceptor: CustomStringConvertible {
    var description: String { "Cookies" }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends cookies and stores those that servers set, for the host of each hop (RFC 6265bis). The default store is a
    /// new in-memory store that the client shares with the clients derived from it.
    ///
    /// The interceptor is not part of `Pipeline.standard`: by default, a client keeps no state from one call to the
    /// next.
    ///
    /// - A `Cookie` field of the call is sent unchanged, and no cookies are added to it. After a redirect to another
    ///   origin, the field is removed and the store provides the cookies.
    /// - The cookies from every response are stored, whatever the status, including redirects.
    /// - `SameSite` applies after redirects through another site (another registrable domain or scheme).
    /// - A refused cookie does not fail the call; observers are notified of the reason (`CookieStore.Event.refused`).
    public static func cookies(_ store: CookieStore = CookieStore()) -> BuiltInInterceptor {
        BuiltInInterceptor(CookieInterceptor(store: store))
    }
}
