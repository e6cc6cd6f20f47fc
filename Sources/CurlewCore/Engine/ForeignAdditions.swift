// SPDX-License-Identifier: MIT

package import CurlewHTTP

extension Origin {
    /// Whether requests to this origin cannot be read in transit, because they use https or stay on this machine.
    package var isConfidential: Bool { isSecure || isLoopback }

    /// Returns whether credentials and other data of this origin may be sent to `other`: if the origins are equal, or
    /// if `other` is https on the same host and both ports are the default ones, as when an interceptor upgrades
    /// a request. Data is never shared from https to http, nor with another port, where another server may listen.
    package func shares(with other: Origin) -> Bool {
        if self == other { return true }
        return scheme == "http" && other.scheme == "https" && host == other.host && isDefaultPort && other.isDefaultPort
    }
}

extension HTTPRequest {
    /// Returns the request without the possible secrets that an interceptor of another origin has added: fields that
    /// are neither harmless nor declared, and query items with secret names.
    ///
    /// - `received`: the request as the interceptor received it. Its fields and query items are kept, because the call
    ///   specifies the origin together with them. Nil if that request still had the interceptor's origin; then all such
    ///   fields and items are removed.
    func withoutAdditions(to received: HTTPRequest?, in context: ExchangeContext) -> HTTPRequest {
        let forwarded = context.forwardedFields
        let allowed = ForwardedFields(
            secret: context.fields.secret.union(forwarded.secret),
            declared: context.fields.harmless.union(forwarded.declared))
        var request = HTTPRequest(
            method, origin: origin, target: target(without: received, context), headers: headers, body: body,
            secrets: secrets)
        for name in headers.map(\.name) where !allowed.allow(name) {
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
        let redaction = context.secrets.redaction
        let kept = queryItems.filter {
            before.contains($0) || redaction.pairs(Substring($0)).utf8.elementsEqual($0.utf8)
        }
        let path = String(target[..<mark])
        return kept.isEmpty ? path : path + "?" + kept.joined(separator: "&")
    }

    private var queryItems: [String] {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return Substring(target.utf8[mark...].dropFirst()).parts("&").map(String.init)
    }
}

/// The request fields that may be sent to an origin that a redirect has chosen: those that are known to be harmless,
/// and those that the app has declared as safe.
package struct ForwardedFields: Hashable, Sendable {
    /// The fields declared as secret. They are never sent to another origin, even if `declared` contains them.
    package var secret: Set<HTTPField.Name> = []
    /// The fields of the client's configuration. They are sent to the client's origin only, unless `declared` contains
    /// them.
    var home: Set<HTTPField.Name> = []
    /// The fields declared as safe for other origins.
    var declared: Set<HTTPField.Name> = []

    func allow(_ name: HTTPField.Name) -> Bool {
        if name.isCredential || secret.contains(name) || Self.bound.contains(name) { return false }
        return declared.contains(name) || name.isHarmless && !home.contains(name)
    }

    /// The fields that no declaration can forward, because their values describe the original request (RFC 9110 §15.4).
    private static let bound: Set<HTTPField.Name> = [.host, .origin, .referer]
}

/// A URL that a response has named, such as that of the next page or of an upload. If it leads to another origin, its
/// request is sent as one that follows a redirect: without credentials.
struct ServerChoice: Hashable, Sendable {
    let home: Origin?
    let fields: Set<HTTPField.Name>

    func apply(to request: inout HTTPRequest, in context: inout ExchangeContext) {
        guard home != request.origin else { return }
        if let home { context.pastOrigins.append(home) }
        context.leaveOrigin(forwarding: fields)
        for field in request.headers where !context.forwardedFields.allow(field.name) {
            request.headers.remove(field.name)
        }
    }
}

extension RequestOptions {
    /// Notes that a response named the URL of the call.
    ///
    /// - `home`: the origin of the call whose response that was.
    /// - `fields`: the fields that the capability sends to every origin.
    package mutating func note(serverChoiceFrom home: Origin?, fields: [HTTPField.Name] = []) {
        self[ServerChoiceKey.self] = ServerChoice(home: home, fields: Set(fields))
    }
}

enum ServerChoiceKey: RequestOptions.Key {
    static var defaultValue: ServerChoice? { nil }
}
