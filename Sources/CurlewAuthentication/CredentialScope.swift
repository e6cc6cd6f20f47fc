// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The origin that may receive a credential, and the name by which calls select the credential. Every authentication
/// interceptor uses a scope to apply the rules of `.bearer(for:_:principal:)`.
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
    /// ignored. If `url` is not an absolute URL, `problem(of:in:example:)` returns a message.
    package init(_ url: String? = nil, name: String? = nil) {
        self.name = name
        guard let url else {
            owner = .client
            return
        }
        do { owner = .origin(try HTTPRequest(url: url).origin) } catch { owner = .unreadable(error.detail) }
    }

    /// Returns whether the credential may be sent in the `Authorization` field of `request`: `covers(_:in:isAddition:)`
    /// returns true, and the request has no such field.
    package func admits(_ request: HTTPRequest, in context: ExchangeContext) -> Bool {
        covers(request, in: context) && !request.headers.contains(.authorization)
    }

    /// Returns whether the origin of `request` may receive the credential, and the call selects the credential.
    ///
    /// - `isAddition`: whether the credential, for example a signature, may be sent in addition to another one. Default
    ///   false: only the first credential is attached. Without a name, an addition also covers calls with `.named`.
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

    /// Returns the message with which every call throws `.configuration`: the origin is missing or invalid, or the
    /// credential would be sent unencrypted. Nil if there is no such problem.
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
