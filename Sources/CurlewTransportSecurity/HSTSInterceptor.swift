// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The interceptor of `.hsts()`, where its rules are documented.
package struct HSTSInterceptor: Interceptor {
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
        guard request.origin.isSecure, response.facts.otherSources.isEmpty,
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
