// SPDX-License-Identifier: MIT

package import CurlewCore
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
    package func problem(of credential: String, in setup: Pipeline.Environment, example: (String) -> String) -> String?
    {
        switch owner {
        case .origin:
            return nil
        case .unreadable(let detail):
            return "\(credential) has no origin. \(detail)"
        case .client:
            guard let origin = setup.clientOrigin else {
                return "\(credential) has no origin. Set the client's base URL, or name the origin:"
                    + " \(example("https://api.example.com"))."
            }
            guard !isSafe(origin) else { return nil }
            return
                "\(credential) would be sent to \(origin) unencrypted. Use https; if plain http is intended, name the"
                + " origin: \(example(origin.description))."
        }
    }

    private func isSafe(_ origin: Origin) -> Bool {
        origin.isConfidential
    }

    /// Returns `name`, with the origin in parentheses if one was specified: `Bearer(https://api.example.com)`.
    package func label(_ name: String) -> String {
        if case .origin(let origin) = owner { "\(name)(\(origin))" } else { name }
    }
}
