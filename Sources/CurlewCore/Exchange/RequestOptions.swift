// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Settings of one call beyond the request itself. The client has a default for each.
///
/// Options are never sent. Interceptors read them from `next.context.options`. Extensions can store their own values
/// under typed keys:
///
///     enum TenantKey: RequestOptions.Key { static let defaultValue = "public" }
///     options[TenantKey.self] = "acme"
public struct RequestOptions: Sendable {
    /// The timeouts of this call. Each one overrides the client's individually: `options.timeouts.total =
    /// .seconds(60)`. By default none is set.
    public var timeouts: Timeouts {
        get { bounds?.timeouts ?? Timeouts() }
        set { bounds = CallBounds(timeouts: newValue, limits: limits) }
    }

    /// The limits of this call. Each one overrides the client's individually: `options.limits.redirects = 3`. By
    /// default none is set.
    public var limits: Limits {
        get { bounds?.limits ?? Limits() }
        set { bounds = CallBounds(timeouts: timeouts, limits: newValue) }
    }

    /// Behind a reference: few calls set any, and options are copied for each call.
    private(set) var bounds: CallBounds?

    /// The codecs of this call; nil uses the client's.
    public var codecs: Codecs?
    /// The statuses besides 200–299 that count as success. Those of the client and of the call are combined. Default
    /// none.
    public var acceptedStatuses: Set<HTTPStatus> = []
    /// True for calls with an Optional value that return nil for 404 and 410 instead of throwing. Nil is false.
    public var decodesNotFoundAsNil: Bool?
    /// True returns the response when its head arrives; false waits for small bodies. Nil is false.
    public var streaming: Bool?
    /// True delivers the body with its content codings (gzip, …) not decoded, where the transport can. Nil is false.
    public var skipsContentDecoding: Bool?
    /// True records the certificates of the server in the metrics (`ConnectionInfo.TLS.certificates`). Observed calls
    /// always record them. Nil is false. Not available over URLSession.
    public var peerCertificates: Bool?
    /// Whether the call is idempotent, regardless of its method. Nil, the default, decides by the method and by
    /// `Idempotency-Key` (RFC 9110 §9.2.2).
    public var isIdempotent: Bool?
    /// True sends an `Idempotency-Key` with a call whose method is not idempotent, so that it can be repeated. The key
    /// is a random UUID, created once per call and kept over attempts and redirects. A key in the call's own fields
    /// takes precedence. Nil is false. Use it only for servers that support the field.
    public var sendsIdempotencyKey: Bool?
    /// The order in which calls that wait for a connection slot to their host begin; nil is `.normal`.
    public var priority: RequestOptions.Priority?

    /// Whether the call is sent with a credential, and with which one; nil is `.optional`.
    public var authentication: RequestOptions.Authentication?

    /// The values of extensions, by the identifiers of their key types.
    @usableFromInline var values: [ObjectIdentifier: Entry] = [:]

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let value: any Sendable
        let isOfCall: Bool
    }

    /// The values of extensions that can change an exchange: those without a `CallOptionKey`.
    package var exchangeValues: [ObjectIdentifier: any Sendable] {
        values.isEmpty ? [:] : values.filter { !$1.isOfCall }.mapValues(\.value)
    }

    /// True if the call consists of one hop: every interceptor, also a custom one, returns a redirect as it is and
    /// sends nothing to its target. Default false.
    ///
    /// Set by requests whose content only their own target may receive, such as those of `OAuth2` with refresh tokens
    /// and client secrets. An interceptor that follows redirects must check it.
    public var isSingleHop: Bool {
        get { self[SingleHopKey.self] }
        set { self[SingleHopKey.self] = newValue }
    }

    /// Creates the default options.
    public init() {}

    /// The default options without any credential, for the `options` of an endpoint that signs in.
    public static var withoutCredentials: RequestOptions {
        var options = RequestOptions()
        options.authentication = .anonymous
        return options
    }

    /// The value for an extension's key.
    public subscript<Key: RequestOptions.Key>(key: Key.Type) -> Key.Value {
        // Inlinable, so that modules that read their keys in each call do so without generic code.
        @inlinable
        get {
            values.isEmpty ? Key.defaultValue : values[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue
        }
        set { values[ObjectIdentifier(key)] = Entry(value: newValue, isOfCall: key is any CallOptionKey.Type) }
    }

    /// Returns these options, overridden by everything that `other` sets. A nil option of `other` keeps this one's
    /// value. Timeouts and limits are overridden individually, `acceptedStatuses` is combined, and values of extensions
    /// in `other` take precedence.
    public func overridden(by other: RequestOptions) -> RequestOptions {
        var result = self
        result.bounds = bounds?.overridden(by: other.bounds) ?? other.bounds
        if let codecs = other.codecs { result.codecs = codecs }
        if let isIdempotent = other.isIdempotent { result.isIdempotent = isIdempotent }
        if let sendsIdempotencyKey = other.sendsIdempotencyKey { result.sendsIdempotencyKey = sendsIdempotencyKey }
        if let priority = other.priority { result.priority = priority }
        if let authentication = other.authentication { result.authentication = authentication }
        if !other.acceptedStatuses.isEmpty { result.acceptedStatuses.formUnion(other.acceptedStatuses) }
        if let decodesNotFoundAsNil = other.decodesNotFoundAsNil { result.decodesNotFoundAsNil = decodesNotFoundAsNil }
        if let streaming = other.streaming { result.streaming = streaming }
        if let skipsContentDecoding = other.skipsContentDecoding { result.skipsContentDecoding = skipsContentDecoding }
        if let peerCertificates = other.peerCertificates { result.peerCertificates = peerCertificates }
        if !other.values.isEmpty { result.values.merge(other.values) { $1 } }
        return result
    }
}

extension RequestOptions {
    /// A key for a custom value in `RequestOptions`.
    public protocol Key {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value if none was stored.
        static var defaultValue: Value { get }
    }
}

/// A key for a value that only interceptors read which decide about the call as a whole. Calls whose options differ in
/// such values only may share an exchange.
package protocol CallOptionKey: RequestOptions.Key {}

private enum SingleHopKey: CallOptionKey {
    static let defaultValue = false
}
