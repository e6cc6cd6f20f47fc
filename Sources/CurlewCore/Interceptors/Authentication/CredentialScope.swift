// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The one origin that a credential belongs to: the rule that every authentication interceptor follows.
///
/// - A request to any other origin goes without the credential. The one exception is `https://host` for a credential of
///   `http://host`, see `Origin.shares(with:)`.
/// - After a redirect has left the call's origin nothing is attached any more, not even back at that origin.
/// - Over plain http a credential would be readable on the way. Without a named origin that works for loopback only, and
///   is a problem of the pipeline otherwise; naming an `http` origin says that it is meant.
package struct CredentialScope: Sendable {
    private enum Owner: Sendable {
        case client
        case origin(Origin)
        case unreadable(String)
    }

    private let owner: Owner

    private init(owner: Owner) {
        self.owner = owner
    }

    /// The origin of the client's base URL.
    package static let client = CredentialScope(owner: .client)

    package static func origin(_ origin: Origin) -> CredentialScope {
        CredentialScope(owner: .origin(origin))
    }

    /// The origin of `url`; its path is not looked at. A text that is no absolute URL is a problem of the pipeline.
    package static func url(_ url: String) -> CredentialScope {
        do {
            return .origin(try HTTPRequest(url: url).origin)
        } catch {
            return CredentialScope(owner: .unreadable(error.detail))
        }
    }

    /// Whether the credential may go with a request, and is the one that the call asks for.
    ///
    /// - `isAddition`: it goes beside another credential; otherwise the first one that is attached is the only one.
    package func covers(
        _ request: HTTPRequest, in context: ExchangeContext, name: String? = nil, isAddition: Bool = false
    ) -> Bool {
        guard !context.crossedOrigin, isAddition || !context.isAuthenticated else { return false }
        switch context.authentication {
        case .anonymous: return false
        case .optional, .required: if name != nil { return false }
        case .named(let wanted): if name != wanted, !isAddition || name != nil { return false }
        }
        switch owner {
        case .client: return context.clientOrigin?.shares(with: request.origin) == true && isSafe(request.origin)
        case .origin(let origin): return origin.shares(with: request.origin)
        case .unreadable: return false
        }
    }

    /// No origin to belong to, or one to which the credential would travel in plain sight.
    ///
    /// - `credential`: as a sentence begins with it, `The bearer token`.
    /// - `example`: how an origin is named, `.bearer(for: "…") { … }`, with the placeholder for the origin's text.
    package func problem(of credential: String, in setup: PipelineSetup, example: (String) -> String) -> String? {
        switch owner {
        case .origin:
            return nil
        case .unreadable(let detail):
            return "\(credential) has no origin to belong to. \(detail)"
        case .client:
            guard let origin = setup.clientOrigin else {
                return "\(credential) has no origin to belong to. Give the client a base URL, or name the origin:"
                    + " \(example("https://api.example.com"))."
            }
            guard !isSafe(origin) else { return nil }
            return "\(credential) would go to \(origin) unencrypted. Use https; if plain http is meant, name the"
                + " origin: \(example(origin.description))."
        }
    }

    private func isSafe(_ origin: Origin) -> Bool {
        origin.isConfidential
    }

    /// `Bearer`, or `Bearer(https://…)` if an origin was named.
    package func label(_ name: String) -> String {
        if case .origin(let origin) = owner { "\(name)(\(origin))" } else { name }
    }
}

extension Origin {
    /// True when nobody between here and there can read along.
    var isConfidential: Bool { isSecure || isLoopback }

    /// Whether what belongs to this origin may go to `other`: to itself, and from http to https of the same host where
    /// both ports are the default ones, as RFC 6797 §8.3 rewrites requests. Never from https to http, and never to another
    /// port, where another server may listen.
    func shares(with other: Origin) -> Bool {
        if self == other { return true }
        return scheme == "http" && other.scheme == "https" && host == other.host && isDefaultPort && other.isDefaultPort
    }
}
