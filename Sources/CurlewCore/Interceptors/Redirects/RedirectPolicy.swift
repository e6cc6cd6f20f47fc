// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Which redirects are followed. What follows a redirect is decided by rules that no policy switches off.
///
///     pipeline.adding(.redirects(.sameOrigin))                     // a client's
///     .get("/report").options { $0.redirects = .manual }           // a call's
///
/// The rules, whatever the policy:
/// - Only 301, 302, 303, 307 and 308 with a `Location` redirect. `Location` is resolved against the URL that was asked
///   (RFC 3986 §5.2), read as browsers read it where it is odd; several that differ are an error.
/// - 303 turns every method but HEAD into GET; 301 and 302 turn POST into GET; otherwise method and body stay
///   (RFC 9110 §15.4). With the body go the fields that describe it.
/// - A body that exists only once is not sent again.
/// - Never from https to http, and to nothing but http and https; a user name or password in a `Location` is refused.
/// - To another origin (scheme, host or port) go only header fields that are known to be harmless, such as `Accept`,
///   `Range`, `Content-Type` and `traceparent`, and those that were declared (`forwarding(_:)`). Credentials, cookies,
///   fields of any other name and those of the client's configuration stay off for the rest of the call, also back at
///   the first origin, and whatever an interceptor tries to attach. The body goes along with 307 and 308.
/// - At most `Limits.redirects` hops; a URL that was asked before is asked again.
public struct RedirectPolicy: Sendable {
    enum Rule: Sendable {
        case all
        case sameOrigin
        case none
        case asking(@Sendable (Redirect) throws -> Bool)
    }

    let rule: Rule

    /// Header fields that are secrets of yours, besides those of `HTTPField.Name.isSensitive`. Default none.
    ///
    /// Needed only for a field that would be taken for harmless: fields of unknown names stay at their origin anyway.
    /// It also counts in the principal, so caches keep the responses for its values apart. A call's own policy adds to
    /// those of its client; it takes none away.
    public var secretHeaders: Set<HTTPField.Name> = []

    /// Header fields of yours that may go to another origin, such as the version of the app. Default none.
    ///
    /// Includes fields of the client's configuration. Has no effect for credentials such as `Authorization` and `Cookie`,
    /// what `secretHeaders` names, and for `Host`, `Origin` and `Referer`. A call's own policy adds to those of its client.
    public var forwardedHeaders: Set<HTTPField.Name> = []

    /// Every redirect that the rules allow.
    public static let standard = RedirectPolicy(rule: .all)

    /// Those that stay at their origin. The answer that leads elsewhere is the caller's.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// None: the caller gets the answer that redirects.
    public static let manual = RedirectPolicy(rule: .none)

    /// Those that `follows` says yes to; the answer it says no to is the caller's, and what it throws ends the call.
    ///
    /// It is asked after the rules, so only about redirects that may be followed.
    public static func asking(_ follows: @escaping @Sendable (_ redirect: Redirect) throws -> Bool) -> RedirectPolicy {
        RedirectPolicy(rule: .asking(follows))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// The same with more header fields that never leave their origin.
    public func keeping(secret names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.secretHeaders.formUnion(names)
        return copy
    }

    /// A call's policy with what its client declares.
    func adding(_ client: RedirectPolicy) -> RedirectPolicy {
        keeping(secret: client.secretHeaders).forwarding(client.forwardedHeaders)
    }

    /// The same with more header fields that are safe to send to another origin (`forwardedHeaders`).
    public func forwarding(_ names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.forwardedHeaders.formUnion(names)
        return copy
    }
}

extension RedirectPolicy: CustomStringConvertible {
    /// Its name.
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
    /// Which redirects this call follows; nil, the default, leaves it to the client's `.redirects(…)`.
    public var redirects: RedirectPolicy? {
        get { self[RedirectPolicyKey.self] }
        set { self[RedirectPolicyKey.self] = newValue }
    }
}

enum RedirectPolicyKey: RequestOptionKey {
    static let defaultValue: RedirectPolicy? = nil
}
