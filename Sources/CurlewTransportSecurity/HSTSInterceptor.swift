// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Sends requests over https to hosts that require it. For the rules, see `.hsts(_:)`.
package struct HSTSInterceptor: Interceptor {
    /// The store of the hosts that require https.
    public let store: HSTSStore

    /// Creates an interceptor that uses `store`.
    public init(_ store: HSTSStore) {
        self.store = store
    }

    /// The placement `.transportSecurity`. The interceptor runs once per hop, between `.redirects` and `.cookies`.
    public var placement: Placement { .transportSecurity }

    /// Returns `.anonymous`, because the interceptor attaches no credential. Returns `.unknown` for a request that it
    /// would change to https, because interceptors closer to the transport attach the credentials of the https request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        upgrade(of: request, context) == nil ? .anonymous : .unknown
    }

    /// Changes the scheme to https if the host requires it, runs the rest of the pipeline, and records the policy of
    /// the host.
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

    /// Returns the request over https; nil if the host does not require it or the request already uses https.
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
    /// The name of the interceptor, `HSTS`.
    public var description: String { "HSTS" }
}
