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
    /// Timeouts for this call; nil uses the client's.
    public var timeouts: Timeouts?
    /// Limits for this call; nil uses the client's.
    public var limits: Limits?
    /// Codecs for this call; nil uses the client's.
    public var codecs: Codecs?
    /// Statuses besides 200–299 that count as success. Default none.
    public var accepts: Set<HTTPStatus> = []
    /// True for calls whose answer is Optional and for which 404 and 410 give nil instead of an error. Default false.
    public var nilOn404 = false
    /// True hands the response over when its head arrives; false, the default, waits for small bodies.
    public var streaming = false
    /// The body goes to a file: a transport may choose a thread that may be blocked.
    package var savesBody = false
    /// True leaves content codings (gzip, …) undone, where the transport can. Default false.
    public var rawBody = false
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

    /// These options with everything that `other` sets laid over them.
    public func overridden(by other: RequestOptions) -> RequestOptions {
        var result = self
        if let timeouts = other.timeouts { result.timeouts = timeouts }
        if let limits = other.limits { result.limits = limits }
        if let codecs = other.codecs { result.codecs = codecs }
        if let isIdempotent = other.isIdempotent { result.isIdempotent = isIdempotent }
        if let sendsIdempotencyKey = other.sendsIdempotencyKey { result.sendsIdempotencyKey = sendsIdempotencyKey }
        if let priority = other.priority { result.priority = priority }
        if let authentication = other.authentication { result.authentication = authentication }
        if !other.accepts.isEmpty { result.accepts.formUnion(other.accepts) }
        result.nilOn404 = nilOn404 || other.nilOn404
        result.streaming = streaming || other.streaming
        result.savesBody = savesBody || other.savesBody
        result.rawBody = rawBody || other.rawBody
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
