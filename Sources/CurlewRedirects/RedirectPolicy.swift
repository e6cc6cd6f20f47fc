// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// Specifies which redirects are followed. How they are followed is fixed.
///
///     pipeline.adding(.redirects(.sameOrigin))                     // for a client
///     .get("/report").options { $0.redirects = .manual }           // for a call
///
/// These rules apply to every policy:
/// - Only 301, 302, 303, 307 and 308 with a `Location` redirect. `Location` is resolved against the request URL (RFC
///   3986 §5.2); unusual values are parsed as browsers do. Several different values are an error.
/// - 303 changes every method but HEAD to GET; 301 and 302 change POST to GET; otherwise the method and the body are
///   kept (RFC 9110 §15.4). The fields that describe a body are removed with it.
/// - A body that can be produced only once is not sent again.
/// - Redirects never lead from https to http, and only to http and https. A user name or password in a `Location` is
///   refused.
/// - Another origin (scheme, host or port) receives only header fields that are known to be harmless, such as `Accept`,
///   `Range`, `Content-Type` and `traceparent`, and those that were declared (`forwarding(_:)`). Credentials, cookies,
///   fields of any other name and those of the client's configuration are not sent for the rest of the call, not even
///   to the first origin, and not even if an interceptor attaches them. The body is sent with 307 and 308.
/// - At most `Limits.redirects` hops. A URL may occur more than once.
public struct RedirectPolicy: Sendable {
    enum Rule: Sendable {
        case all
        case sameOrigin
        case none
        case asking(@Sendable (Redirect) throws -> Bool)
    }

    let rule: Rule

    /// Header fields of the app that are secrets, besides those of `HTTPField.Name.isSensitive`. Default none.
    ///
    /// Needed only for a field that would be considered harmless: fields of unknown names are never sent to another
    /// origin. These fields are also part of the principal, so caches store separate responses for their values. A
    /// call's own policy adds to that of its client and removes nothing.
    public var secretHeaders: Set<HTTPField.Name> = []

    /// Header fields of the app that may be sent to another origin, such as the version of the app. Default none.
    ///
    /// This includes fields of the client's configuration. It has no effect on credentials such as `Authorization` and
    /// `Cookie`, on `secretHeaders`, and on `Host`, `Origin` and `Referer`. A call's own policy adds to that of its
    /// client.
    public var forwardedHeaders: Set<HTTPField.Name> = []

    /// Follows every redirect that the rules allow.
    public static let standard = RedirectPolicy(rule: .all)

    /// Follows redirects within the same origin. A redirect to another origin is returned to the caller.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// Follows no redirect: the redirect response is returned to the caller.
    public static let manual = RedirectPolicy(rule: .none)

    /// Follows the redirects for which `follows` returns true. Otherwise the redirect response is returned to the
    /// caller. An error that `follows` throws ends the call.
    ///
    /// `follows` is called only for redirects that the rules allow.
    public static func asking(_ follows: @escaping @Sendable (_ redirect: Redirect) throws -> Bool) -> RedirectPolicy {
        RedirectPolicy(rule: .asking(follows))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// Returns a copy with more header fields that are never sent to another origin.
    public func keeping(secret names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.secretHeaders.formUnion(names)
        return copy
    }

    /// Returns a call's policy plus what its client's policy declares.
    func adding(_ client: RedirectPolicy) -> RedirectPolicy {
        keeping(secret: client.secretHeaders).forwarding(client.forwardedHeaders)
    }

    /// Returns a copy with more header fields that may be sent to another origin (`forwardedHeaders`).
    public func forwarding(_ names: Set<HTTPField.Name>) -> RedirectPolicy {
        var copy = self
        copy.forwardedHeaders.formUnion(names)
        return copy
    }
}

extension RedirectPolicy: CustomStringConvertible {
    /// The name of the policy.
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
    /// The redirect policy of this call; nil, the default, uses that of the client's `.redirects(…)`.
    public var redirects: RedirectPolicy? {
        get { self[RedirectPolicyKey.self] }
        set { self[RedirectPolicyKey.self] = newValue }
    }
}

enum RedirectPolicyKey: CallOptionKey {
    static let defaultValue: RedirectPolicy? = nil
}
