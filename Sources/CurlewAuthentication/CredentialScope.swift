// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The origin that may receive a credential. Every authentication interceptor follows these rules:
///
/// - A request to any other origin is sent without the credential. The only exception: `https://host` may receive a
///   credential for `http://host` if both ports are the default ports (`Origin.shares(with:)`).
/// - After a redirect has left the call's origin, no credential is attached, even if a later redirect returns to that
///   origin.
/// - A credential can be read in transit over plain http. Without an explicit origin, plain http is therefore allowed
///   only for loopback, and is a configuration error otherwise. An explicit `http` origin allows it.
package struct CredentialScope: Sendable {
    private enum Owner: Sendable {
        case client
        case origin(Origin)
        case unreadable(String)
    }

    private let owner: Owner
    /// The name by which calls select the credential; nil for all calls that select none.
    package let name: String?

    /// Creates a scope for the origin of `url`, or of the client's base URL if `url` is nil. The path of `url` is
    /// ignored. If `url` is not an absolute URL, `problem(of:in:example:)` returns an error.
    package init(_ url: String? = nil, name: String? = nil) {
        self.name = name
        guard let url else {
            owner = .client
            return
        }
        do { owner = .origin(try HTTPRequest(url: url).origin) } catch { owner = .unreadable(error.detail) }
    }

    /// Returns whether the credential may be sent in the `Authorization` field of `request`, which has none, and is the
    /// credential that the call selects.
    package func admits(_ request: HTTPRequest, in context: ExchangeContext) -> Bool {
        covers(request, in: context) && !request.headers.contains(.authorization)
    }

    /// Returns whether the credential may be sent with `request` and is the credential that the call selects.
    ///
    /// - `isAddition`: whether the credential, for example a signature, may be sent in addition to another one.
    ///   Otherwise only the first credential is attached.
    package func covers(_ request: HTTPRequest, in context: ExchangeContext, isAddition: Bool = false) -> Bool {
        guard !context.crossedOrigin, isAddition || !context.isAuthenticated else { return false }
        switch context.authentication {
        case .anonymous: return false
        case .optional, .required: if name != nil { return false }
        case .named(let wanted): if name != wanted, !isAddition || name != nil { return false }
        }
        switch owner {
        case .client: return context.clientOrigin?.shares(with: request.origin) == true && request.origin.isConfidential
        case .origin(let origin): return origin.shares(with: request.origin)
        case .unreadable: return false
        }
    }

    /// Returns an error if the origin is missing or invalid, or if the credential would be sent unencrypted; nil
    /// otherwise.
    ///
    /// - `credential`: the name of the credential as the subject of a sentence, such as `The bearer token`.
    /// - `example`: returns code that specifies the given origin, such as `.bearer(for: "…") { … }`.
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
            guard !origin.isConfidential else { return nil }
            return
                "\(credential) would be sent to \(origin) unencrypted. Use https; if plain http is intended, name the"
                + " origin: \(example(origin.description))."
        }
    }

    /// Returns `name`, with the origin in parentheses if one was specified: `Bearer(https://api.example.com)`.
    package func label(_ name: String) -> String {
        if case .origin(let origin) = owner { "\(name)(\(origin))" } else { name }
    }
}
