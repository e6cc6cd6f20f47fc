// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Sends cookies and takes those that servers set, at each hop for the host of that hop (RFC 6265bis).
///
/// It is not in `Pipeline.standard`: a client remembers nothing of one call for the next unless you ask for it.
///
/// - A `Cookie` field that the call brings along is sent as it is, and nothing is added to it. After a redirect to
///   another origin it is gone, and the store is asked.
/// - Cookies of every answer are taken, those of redirects included, whatever the status.
/// - After redirects through another site (another registrable domain, or http instead of https) `SameSite` counts.
/// - A cookie that is not taken fails nothing; observers hear why (`ExchangeEvent.cookieRefused`).
public struct CookieInterceptor: Interceptor {
    /// Where the cookies are.
    public let store: CookieStore

    /// An interceptor over `store`.
    public init(_ store: CookieStore) {
        self.store = store
    }

    /// `.cookies`, right of the redirects.
    public var placement: Placement { .cookies }

    /// `.unknown` for a request that may get cookies of the store; `.anonymous` for one that brings its own.
    ///
    /// At `.cookies` it stands outside of caches, which see the cookies on the request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        request.headers.contains(.cookie) ? .anonymous : .unknown
    }

    /// Adds the cookies of the request, runs the rest of the chain, and takes the cookies of the answer.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        var request = request
        if !request.headers.contains(.cookie),
            let field = store.header(for: request, isCrossSite: isCrossSite(request, context), at: context.time.date)
        {
            request.headers[.cookie] = field
            if context.crossedOrigin { context.jarCookie = field }
        }
        let response = try await next(request, context: context)
        let lines = response.headers[values: .setCookie]
        guard !lines.isEmpty else { return response }
        for (line, refusal) in store.take(lines, from: request, at: context.time.date) {
            context.record(.cookieRefused(refusal, name: Self.name(in: line)))
        }
        return response
    }

    /// Whether a redirect of another site, which is a scheme and a registrable domain, led to the request.
    private func isCrossSite(_ request: HTTPRequest, _ context: ExchangeContext) -> Bool {
        guard context.crossedOrigin else { return false }
        let suffixes = store.publicSuffixes
        let site = suffixes.site(of: request.origin.host)
        return context.redirects.contains {
            $0.origin.scheme != request.origin.scheme || suffixes.site(of: $0.origin.host) != site
        }
    }

    /// The name of a cookie for a log; what stands before the first "=" or ";".
    private static func name(in line: String) -> String {
        let end = line.utf8.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
        // Without "=" the whole is the value, which is a secret.
        guard let end, line.utf8[end] == UInt8(ascii: "=") else { return "" }
        return line[..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ").clipped(to: 64).printable
    }
}

extension CookieInterceptor: CustomStringConvertible {
    /// `Cookies`
    public var description: String { "Cookies" }
}
