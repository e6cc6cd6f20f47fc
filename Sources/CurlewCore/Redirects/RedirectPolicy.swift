// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A policy that determines which redirects are followed. How a redirect is followed is the same for every policy.
///
///     pipeline.adding(.redirects(.sameOrigin))                     // for a client
///     .get("/report").options { $0.redirects = .manual }           // for a call
///
/// These rules apply to every policy:
/// - Only a response with status 301, 302, 303, 307 or 308 and a `Location` field is a redirect. `Location` is resolved
///   against the request URL (RFC 3986 §5.2); unusual values are parsed as browsers parse them. Several different
///   values are an error.
/// - 303 changes every method except HEAD to GET; 301 and 302 change POST to GET. Otherwise the method and the body are
///   kept (RFC 9110 §15.4). If the body is removed, so are the fields that describe it.
/// - If a redirect requires the body again, and the body can be produced only once, the call fails.
/// - A redirect from https to http is refused, and so is a redirect to any scheme other than http and https. A user
///   name or password in a `Location` is refused.
/// - Another origin (scheme, host or port) receives only header fields that are known to be harmless, such as `Accept`,
///   `Range`, `Content-Type` and `traceparent`, and fields that were declared (`forwarding(_:)`). Credentials, the
///   call's cookies, fields of any other name, and the fields of the client's configuration are not sent for the rest
///   of the call. This also applies if a later redirect returns to the first origin, and to fields that an interceptor
///   attaches. A body that the redirect keeps is sent to it too.
/// - A call follows at most `Limits.redirects` redirects. A URL may occur more than once.
public struct RedirectPolicy: CustomStringConvertible, Sendable {
    enum Rule: Sendable {
        case all
        case sameOrigin
        case none
        case asking(@Sendable (RedirectPolicy.Redirect) throws -> Bool)
    }

    let rule: Rule

    /// The names that `keeping(secret:)` has declared.
    private(set) var secretHeaders: Set<HTTPField.Name> = []
    /// The names that `forwarding(_:)` has declared.
    private(set) var forwardedHeaders: Set<HTTPField.Name> = []

    /// A policy that follows every redirect that the rules allow.
    public static let standard = RedirectPolicy(rule: .all)

    /// A policy that follows redirects within the same origin. A redirect to another origin is returned to the caller.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// A policy that follows no redirect: the redirect response is returned to the caller.
    public static let manual = RedirectPolicy(rule: .none)

    /// Returns a policy that follows the redirects for which `follows` returns true. Otherwise the redirect response is
    /// returned to the caller. An error that `follows` throws ends the call. `follows` is called only for redirects
    /// that the rules allow.
    public static func asking(_ follows: @escaping @Sendable (_ redirect: Redirect) throws -> Bool) -> RedirectPolicy {
        RedirectPolicy(rule: .asking(follows))
    }

    /// Returns a copy with more header fields of the app that are secret and never sent to another origin, in addition
    /// to those of `HTTPField.Name.isSensitive`.
    ///
    /// Declare only fields that would otherwise be considered harmless: fields with unknown names are never sent to
    /// another origin. The declared fields are also part of the principal, so caches store separate responses for their
    /// values. The fields of a call's policy are added to those of the client's policy.
    public func keeping(secret names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.secretHeaders.formUnion(names)
        return copy
    }

    /// Returns a copy with more header fields that may be sent to another origin, such as one with the version of the
    /// app.
    ///
    /// The names may include fields of the client's configuration. They have no effect on credentials such as
    /// `Authorization` and `Cookie`, on secret fields, and on `Host`, `Origin` and `Referer`. The fields of a call's
    /// policy are added to those of the client's policy.
    public func forwarding(_ names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.forwardedHeaders.formUnion(names)
        return copy
    }

    /// The name of the policy, such as `sameOrigin`.
    public var description: String {
        switch rule {
        case .all: "standard"
        case .sameOrigin: "sameOrigin"
        case .none: "manual"
        case .asking: "asking"
        }
    }
}

extension RequestOptions {
    /// The redirect policy of this call. Default nil: that of the client's `.redirects()`, which this option requires.
    public var redirects: RedirectPolicy? {
        get { self[RedirectPolicyKey.self] }
        set { self[RedirectPolicyKey.self] = newValue }
    }
}

enum RedirectPolicyKey: CallOptionKey {
    static let defaultValue: RedirectPolicy? = nil
}

extension RedirectPolicy {
    /// A decision about a redirect. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The redirect is followed. Later events belong to the next hop.
        case followed(RedirectPolicy.Redirect)
        /// The redirect is not followed, and its response is returned to the caller. `because` is the reason, in one
        /// redacted sentence.
        case kept(HTTPResponse, because: String)

        /// The name of the kind of event: `redirect.followed` or `redirect.kept`.
        public var name: String {
            switch self {
            case .followed: "redirect.followed"
            case .kept: "redirect.kept"
            }
        }

        /// One line: the redirect, or the status and the reason.
        public var description: String {
            switch self {
            case .followed(let redirect): "\(redirect)"
            case .kept(let response, let reason): "\(response.status.code) is returned: \(reason)".printable
            }
        }
    }

    /// A redirect of a call: the response, the next request, and what is removed from the request.
    ///
    /// `HTTPResponse.redirects` lists the redirects that led to a response, oldest first.
    public struct Redirect: Hashable, MirroredByDescription, Sendable {
        /// The status of the redirect: 301, 302, 303, 307 or 308.
        public let status: HTTPStatus
        /// The method of the request that was redirected.
        public let method: HTTPMethod
        /// The URL of the request that was redirected. It is not redacted.
        public let url: String
        /// The method of the next request.
        public let nextMethod: HTTPMethod
        /// The URL of the next request, absolute and without a fragment. It is not redacted.
        public let nextURL: String
        /// Whether the next request has another scheme, host or port.
        public let leavesOrigin: Bool
        /// Whether the redirected request had a body and the next request has none.
        public let dropsBody: Bool
        /// The header fields that were removed from the next request, in the order of the redirected request.
        public let droppedFields: [HTTPField.Name]
        /// The declared secrets. The description redacts them.
        private let secrets: DeclaredSecrets

        init(
            status: HTTPStatus, from request: HTTPRequest, to next: HTTPRequest, droppedFields: [HTTPField.Name]
        ) {
            self.status = status
            method = request.method
            url = request.urlString
            nextMethod = next.method
            nextURL = next.urlString
            leavesOrigin = request.origin != next.origin
            dropsBody = !request.body.isEmpty && next.body.isEmpty
            self.droppedFields = droppedFields
            secrets = request.secrets
        }

        /// Both requests and what changed, on one redacted line: `303 POST https://a.test/x → GET https://b.test/y, to
        /// another origin, without the body, without Cookie`.
        public var description: String {
            let redaction = secrets.redaction
            var text = "\(status.code) \(method) \(redaction.url(url)) → \(nextMethod) \(redaction.url(nextURL))"
            if leavesOrigin { text += ", to another origin" }
            if dropsBody { text += ", without the body" }
            if !droppedFields.isEmpty { text += ", without " + droppedFields.map(\.text).joined(separator: ", ") }
            return text.printable
        }
    }
}

private enum RedirectsKey: FactKey {
    static let defaultValue: [RedirectPolicy.Redirect] = []
}

extension ExchangeContext {
    /// The redirects of the call that led to this request, oldest first.
    public internal(set) var redirects: [RedirectPolicy.Redirect] {
        get { facts[RedirectsKey.self] }
        set { facts[RedirectsKey.self] = newValue }
    }
}

extension HTTPResponse {
    /// The redirects that led to this response, oldest first. Set by `.redirects()`.
    public var redirects: [RedirectPolicy.Redirect] {
        get { facts[RedirectsKey.self] }
        set { facts[RedirectsKey.self] = newValue }
    }
}

extension Response {
    /// The redirects that led to this response, oldest first.
    public var redirects: [RedirectPolicy.Redirect] { facts[RedirectsKey.self] }
}
