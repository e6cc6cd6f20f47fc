// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Sends requests over https to hosts that require it, even where a URL or a redirect specifies http (RFC 6797).
/// Created by `.hsts()`.
///
/// - A host requires https by sending `Strict-Transport-Security` in a response over https, which is always verified
///   here. Responses over http, responses from a cache, and addresses instead of names do not count.
/// - `http` becomes `https` and port 80 becomes 443; any other port is kept. This happens at each hop, before cookies
///   are selected and caches are queried.
/// - Credentials of `http://host` are sent to `https://host` if both are on their default ports: it is the same server
///   over a confidential connection. On other ports they are not sent, and none is ever sent from https to http. A
///   server's redirect from http to https changes the origin as any other does, so use https in base URLs.
///
/// The first request to a host is not protected, unless its URL specifies https or the app has added the host
/// (`HSTSStore.insert`). `.httpsOnly()` refuses the remaining plain http requests.
public struct HSTSInterceptor: Interceptor {
    /// The store of the hosts.
    public let store: HSTSStore

    /// Creates an interceptor that uses `store`.
    public init(_ store: HSTSStore) {
        self.store = store
    }

    /// `.transportSecurity`, between redirects and cookies.
    public var placement: Placement { .transportSecurity }

    /// `.anonymous`, as it attaches nothing; `.unknown` for a request that it would change, which only interceptors
    /// further out query: those further in attach what belongs to the request over https.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        upgrade(of: request, context) == nil ? .anonymous : .unknown
    }

    /// Changes the scheme if required, runs the rest of the chain, and records the policy of the host.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = upgrade(of: request, next.context) ?? request
        let response = try await next(request)
        // Only the first field counts (RFC 6797 §8.1).
        guard request.origin.isSecure, response.served == .network,
            let rule = response.headers[values: .strictTransportSecurity].first.flatMap(StrictTransportSecurity.init)
        else { return response }
        store.note(rule, of: request.origin.host, at: next.context.time.date)
        return response
    }

    /// Returns the request over https; nil if it is not changed.
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
