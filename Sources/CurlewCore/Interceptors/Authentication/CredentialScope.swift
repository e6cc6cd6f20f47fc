// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The one origin that a credential belongs to. Every authentication interceptor follows these rules:
///
/// - A request to any other origin is sent without the credential. The only exception is `https://host` for a
///   credential of `http://host`, see `Origin.shares(with:)`.
/// - After a redirect has left the call's origin, nothing is attached any more, not even back at that origin.
/// - Over plain http a credential would be readable in transit. Without an explicit origin, plain http is allowed for
///   loopback only and is a problem of the pipeline otherwise. An explicit `http` origin allows it.
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

    /// Returns the origin of `url`; its path is ignored. A text that is not an absolute URL is a problem of the
    /// pipeline.
    package static func url(_ url: String) -> CredentialScope {
        do {
            return .origin(try HTTPRequest(url: url).origin)
        } catch {
            return CredentialScope(owner: .unreadable(error.detail))
        }
    }

    /// Returns whether the credential may be sent with a request, and is the one that the call selects.
    ///
    /// - `isAddition`: whether it is sent in addition to another credential; otherwise only the first one is attached.
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

    /// Reports a missing origin, or one to which the credential would be sent unencrypted.
    ///
    /// - `credential`: the subject of a sentence, `The bearer token`.
    /// - `example`: code that specifies an origin, `.bearer(for: "…") { … }`, with the placeholder for the origin's
    ///   text.
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

    /// `Bearer`, or `Bearer(https://…)` if an origin was specified.
    package func label(_ name: String) -> String {
        if case .origin(let origin) = owner { "\(name)(\(origin))" } else { name }
    }
}

extension Origin {
    /// Whether a request to this origin cannot be read in transit.
    var isConfidential: Bool { isSecure || isLoopback }

    /// Whether what belongs to this origin may be sent to `other`: to itself, and from http to https of the same host
    /// if both ports are the default ones, as RFC 6797 §8.3 rewrites requests. Never from https to http, and never to
    /// another port, where another server may listen.
    func shares(with other: Origin) -> Bool {
        if self == other { return true }
        return scheme == "http" && other.scheme == "https" && host == other.host && isDefaultPort && other.isDefaultPort
    }
}
