// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Asks hosts over https that have said so, even where a URL or a redirect says http (RFC 6797). Made by `.hsts()`.
///
/// - A host says it with `Strict-Transport-Security` in an answer over https, which is always verified here. Answers over
///   http, answers from a cache, and addresses instead of names do not count.
/// - `http` becomes `https`, port 80 becomes 443, any other port stays. It happens at each hop, before cookies are chosen
///   and caches are asked.
/// - Credentials of `http://host` go along to `https://host`, both on their default ports: it is the same server, and
///   nobody reads along. On other ports they stay, and none goes from https to http. A redirect of the server from http
///   to https leaves the origin as any other does. Write https in base URLs.
///
/// The first request to a host is not protected, unless its URL says https or the app has named it
/// (`HSTSStore.insert`). `.httpsOnly()` refuses what is left.
public struct HSTSInterceptor: Interceptor {
    /// What is known of hosts.
    public let store: HSTSStore

    /// An interceptor over `store`.
    public init(_ store: HSTSStore) {
        self.store = store
    }

    /// `.transportSecurity`, between redirects and cookies.
    public var placement: Placement { .transportSecurity }

    /// `.anonymous`: it attaches nothing. `.unknown` for a request that it would change, which only an interceptor further
    /// out asks about: those further in attach what belongs to the request over https.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        upgrade(of: request, context) == nil ? .anonymous : .unknown
    }

    /// Changes the scheme where that is due, runs the rest of the chain, and takes what the server says.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = upgrade(of: request, next.context) ?? request
        let response = try await next(request)
        // The first field counts (RFC 6797 §8.1).
        guard request.origin.isSecure, response.served == .network,
            let rule = response.headers[values: .strictTransportSecurity].first.flatMap(StrictTransportSecurity.init)
        else { return response }
        store.note(rule, of: request.origin.host, at: next.context.time.date)
        return response
    }

    /// The same request over https; nil if it stays as it is.
    private func upgrade(of request: HTTPRequest, _ context: ExchangeContext) -> HTTPRequest? {
        let origin = request.origin
        guard origin.scheme == "http", store.demandsHTTPS(origin.host, at: context.time.date),
            let secure = Origin(scheme: "https", host: origin.host, port: origin.port == 80 ? 443 : origin.port)
        else { return nil }
        return HTTPRequest(
            request.method, origin: secure, target: request.target, headers: request.headers, body: request.body,
            secrets: request.secrets)
    }
}

extension HSTSInterceptor: CustomStringConvertible {
    /// `HSTS`
    public var description: String { "HSTS" }
}
