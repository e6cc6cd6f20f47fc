// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What one call asks for beyond the message itself. Everything here has a default of the client.
///
/// Options never reach the wire. Interceptors read them from `next.context.options`; extensions can carry values of
/// their own through typed keys:
///
///     enum TenantKey: RequestOptionKey { static let defaultValue = "public" }
///     options[TenantKey.self] = "acme"
public struct RequestOptions: Sendable {
    /// Timeouts for this call, laid over the client's one by one: `options.timeouts.total = .seconds(60)`. Default none
    /// is set.
    public var timeouts: Timeouts {
        get { bounds?.timeouts ?? Timeouts() }
        set { bounds = CallBounds(timeouts: newValue, limits: limits) }
    }

    /// Limits for this call, laid over the client's one by one: `options.limits.redirects = 3`. Default none is set.
    public var limits: Limits {
        get { bounds?.limits ?? Limits() }
        set { bounds = CallBounds(timeouts: timeouts, limits: newValue) }
    }

    /// Out of line: few calls set any, and options are copied for each.
    private(set) var bounds: CallBounds?

    /// Codecs for this call; nil uses the client's.
    public var codecs: Codecs?
    /// Statuses besides 200–299 that count as success, those of the client and of the call together. Default none.
    public var accepts: Set<HTTPStatus> = []
    /// True for calls whose answer is Optional and for which 404 and 410 give nil instead of an error. Nil is
    /// false.
    public var nilOn404: Bool?
    /// True hands the response over when its head arrives; false waits for small bodies. Nil is false.
    public var streaming: Bool?
    /// True hands the body over as it came, with its content codings (gzip, …), where the transport can. Nil is false.
    public var rawBody: Bool?
    /// True puts the certificates of the server into the metrics (`ConnectionInfo.TLS.certificates`), which observed calls
    /// have anyway. Nil is false. Not over URLSession.
    public var peerCertificates: Bool?
    /// Whether doing this call twice is the same as doing it once, whatever the method says; nil, the default, leaves
    /// it to the method and to `Idempotency-Key` (RFC 9110 §9.2.2).
    public var isIdempotent: Bool?
    /// Sends an `Idempotency-Key` with a call whose method is not idempotent, so that it can be repeated: a random UUID,
    /// made once for the call and kept over attempts and redirects. A key among the call's own fields wins. Nil is false;
    /// only for servers that heed the field.
    public var sendsIdempotencyKey: Bool?
    /// Which call begins first when several wait for a place at their host; nil is `.normal`.
    public var priority: RequestPriority?

    /// Whether the call goes with a credential, and with which; nil is `.optional`.
    public var authentication: AuthenticationChoice?

    /// The values of extensions, by the identifiers of their keys' types.
    private(set) var values: [ObjectIdentifier: any Sendable] = [:]

    /// The defaults.
    public init() {}

    /// The defaults, without any credential: what an endpoint that signs in returns as its `options`.
    public static var withoutCredentials: RequestOptions {
        var options = RequestOptions()
        options.authentication = .anonymous
        return options
    }

    /// The value under an extension's key.
    public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get { values.isEmpty ? Key.defaultValue : values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// These options with everything that `other` sets laid over them: what is nil there stays as it is here, timeouts and
    /// limits are laid over one by one, `accepts` is joined, and of extensions' values those of `other` win.
    public func overridden(by other: RequestOptions) -> RequestOptions {
        var result = self
        result.bounds = bounds?.overridden(by: other.bounds) ?? other.bounds
        if let codecs = other.codecs { result.codecs = codecs }
        if let isIdempotent = other.isIdempotent { result.isIdempotent = isIdempotent }
        if let sendsIdempotencyKey = other.sendsIdempotencyKey { result.sendsIdempotencyKey = sendsIdempotencyKey }
        if let priority = other.priority { result.priority = priority }
        if let authentication = other.authentication { result.authentication = authentication }
        if !other.accepts.isEmpty { result.accepts.formUnion(other.accepts) }
        if let nilOn404 = other.nilOn404 { result.nilOn404 = nilOn404 }
        if let streaming = other.streaming { result.streaming = streaming }
        if let rawBody = other.rawBody { result.rawBody = rawBody }
        if let peerCertificates = other.peerCertificates { result.peerCertificates = peerCertificates }
        if !other.values.isEmpty { result.values.merge(other.values) { $1 } }
        return result
    }
}

/// A key for a value of one's own in `RequestOptions`.
public protocol RequestOptionKey {
    /// What is stored.
    associatedtype Value: Sendable
    /// What reading gives when nothing was stored.
    static var defaultValue: Value { get }
}
