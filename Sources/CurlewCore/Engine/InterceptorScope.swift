// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// To which origin what an interceptor attaches may go.
package enum InterceptorScope: Hashable, Sendable {
    /// The interceptor decides that itself, or attaches nothing.
    case own
    /// The origin of the client's base URL, as for every interceptor of an app that says nothing.
    case client
    /// This origin.
    case origin(Origin)
}

/// An interceptor that says to which origin what it attaches may go.
package protocol ScopedInterceptor: Interceptor {
    /// Default `.own`.
    var scope: InterceptorScope { get }
}

extension ScopedInterceptor {
    package var scope: InterceptorScope { .own }
}

extension Interceptor {
    /// What it says of itself, or `.client`.
    var declaredScope: InterceptorScope { (self as? any ScopedInterceptor)?.scope ?? .client }
}

extension Pipeline {
    /// For a client of another origin: what belongs to the client's origin goes on belonging to `home`.
    func belonging(to home: Origin) -> Pipeline {
        Pipeline(
            interceptors.map { interceptor in
                guard interceptor.declaredScope == .client else { return interceptor }
                let placed = interceptor as? PlacedInterceptor
                return PlacedInterceptor(
                    base: placed?.base ?? interceptor, placement: interceptor.placement,
                    changesWhoseAnswer: placed?.changesWhoseAnswer, home: home)
            })
    }
}

extension HTTPRequest {
    /// The request, which leaves the origin of the interceptor that made it from `received`, without what was added that
    /// may be a secret: fields that are neither harmless nor declared, and query items with names of secrets.
    ///
    /// What the call itself brings stays: it names the origin together with it. `received` is nil if the request was still
    /// at home before; then nothing of the kind goes along.
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
    /// True when `name=value` holds a secret.
    fileprivate func isSecret(pair: String) -> Bool {
        !pairs(Substring(pair)).utf8.elementsEqual(pair.utf8)
    }
}
