// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The origin to which an interceptor's additions may be sent.
package enum InterceptorScope: Hashable, Sendable {
    /// The interceptor decides itself, or attaches nothing.
    case own
    /// The origin of the client's base URL. The default for interceptors of an app.
    case client
    /// This origin.
    case origin(Origin)
}

/// An interceptor that specifies the origin to which its additions may be sent.
package protocol ScopedInterceptor: Interceptor {
    /// Default `.own`.
    var scope: InterceptorScope { get }
}

extension ScopedInterceptor {
    package var scope: InterceptorScope { .own }
}

extension Interceptor {
    /// The scope that the interceptor specifies, or `.client`.
    var declaredScope: InterceptorScope { (self as? any ScopedInterceptor)?.scope ?? .client }
}

extension Origin {
    /// Whether a request to this origin cannot be read in transit.
    package var isConfidential: Bool { isSecure || isLoopback }

    /// Whether what belongs to this origin may be sent to `other`: to itself, and from http to https of the same host
    /// if both ports are the default ones, as RFC 6797 §8.3 rewrites requests. Never from https to http, and never to
    /// another port, where another server may listen.
    package func shares(with other: Origin) -> Bool {
        if self == other { return true }
        return scheme == "http" && other.scheme == "https" && host == other.host && isDefaultPort && other.isDefaultPort
    }
}

extension Pipeline {
    /// Returns the pipeline for a client of another origin. Additions that are scoped to the client's origin remain
    /// scoped to `home`.
    func belonging(to home: Origin) -> Pipeline {
        Pipeline(
            interceptors.map { interceptor in
                guard interceptor.declaredScope == .client else { return interceptor }
                let placed = interceptor as? PlacedInterceptor
                return PlacedInterceptor(
                    base: placed?.base ?? interceptor, placement: interceptor.placement,
                    changesPrincipal: placed?.changesPrincipal, home: home)
            })
    }
}

extension HTTPRequest {
    /// Returns the request, for another origin than that of the interceptor that created it from `received`, without
    /// added fields and query items that may be secrets: fields that are neither harmless nor declared, and query items
    /// with secret names.
    ///
    /// Additions of the call itself are kept, because the call specifies the origin together with them. `received` is
    /// nil if the request still had the interceptor's origin before; then all such fields and items are removed.
    func withoutAdditions(to received: HTTPRequest?, in context: ExchangeContext) -> HTTPRequest {
        let forwarded = context.forwardedFields
        let allowed = ForwardedFields(
            secret: context.fields.secret.union(forwarded.secret),
            declared: context.fields.harmless.union(forwarded.declared))
        var request = HTTPRequest(
            method, origin: origin, target: target(without: received, context), headers: headers, body: body,
            secrets: secrets)
        for name in Set(headers.map(\.name)) where !allowed.allow(name) {
            let before = received?.headers[values: name] ?? []
            guard headers[values: name] != before else { continue }
            request.headers.remove(name)
            for value in before { request.headers.append(name, value) }
        }
        return request
    }

    private func target(without received: HTTPRequest?, _ context: ExchangeContext) -> String {
        guard target != received?.target, let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return target
        }
        let before = Set(received?.queryItems ?? [])
        let kept = queryItems.filter { before.contains($0) || !context.secrets.redaction.isSecret(pair: $0) }
        let path = String(target[..<mark])
        return kept.isEmpty ? path : path + "?" + kept.joined(separator: "&")
    }

    /// The items of the query, encoded.
    private var queryItems: [String] {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return target.utf8[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { String(Substring($0)) }
    }
}

extension Redaction {
    /// Returns true when `name=value` contains a secret.
    fileprivate func isSecret(pair: String) -> Bool {
        !pairs(Substring(pair)).utf8.elementsEqual(pair.utf8)
    }
}
