// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The settings of one call beyond the request itself. A setting that a call does not set, or leaves nil, has the value
/// of the client (`APIClient.with(options:)` or its configuration), or else its default.
///
/// Options are never sent. Interceptors read them from `next.context.options`. Extensions can store their own values
/// under typed keys:
///
///     enum TenantKey: RequestOptions.Key { static let defaultValue = "public" }
///     options[TenantKey.self] = "acme"
public struct RequestOptions: Sendable {
    /// The timeouts of this call. Each timeout that is set overrides that of the client; by default, none is set.
    /// Example: `options.timeouts.total = .seconds(60)`.
    public var timeouts: Timeouts {
        get { bounds?.timeouts ?? Timeouts() }
        set { bounds = CallBounds(timeouts: newValue, limits: limits) }
    }

    /// The limits of this call. Each limit that is set overrides that of the client; by default, none is set. Example:
    /// `options.limits.redirects = 3`.
    public var limits: Limits {
        get { bounds?.limits ?? Limits() }
        set { bounds = CallBounds(timeouts: timeouts, limits: newValue) }
    }

    /// The storage of `timeouts` and `limits`: a reference, because options are copied for each call and few set them.
    private(set) var bounds: CallBounds?

    /// The codecs of this call, unless `send` receives others; nil for those of the client.
    public var codecs: Codecs?
    /// The statuses besides 200–299 that count as success. Those of the client and of the call are combined. Default
    /// none.
    public var acceptedStatuses: Set<HTTPStatus> = []
    /// Whether a call with an Optional value returns nil for 404 and 410 instead of throwing. Nil means the client's
    /// value, or else false.
    public var decodesNotFoundAsNil: Bool?
    /// Whether the response is returned as soon as its head arrives. Otherwise the transport also waits for a small
    /// body (`TransportConfiguration.smallBody`). Nil means the client's value, or else false.
    public var streaming: Bool?
    /// Whether the response body keeps its content codings (gzip, …). Nil means the client's value, or else false.
    /// `URLSessionTransport` requests an unencoded body instead.
    public var skipsContentDecoding: Bool?
    /// Whether the metrics contain the certificates of the server (`ExchangeMetrics.Connection.TLS.certificates`). The
    /// metrics of observed calls always do. Nil means the client's value, or else false. Not available over URLSession.
    public var peerCertificates: Bool?
    /// Whether the call is idempotent, regardless of its method. If nil, the default, this depends on the method (RFC
    /// 9110 §9.2.2) and on the presence of an `Idempotency-Key` field.
    public var isIdempotent: Bool?
    /// Whether a call whose method is not idempotent is sent with an `Idempotency-Key`, so that it can be repeated. The
    /// key is a random UUID, which is created once per call and kept across attempts and redirects. A key in the fields
    /// of the call takes precedence. Nil means the client's value, or else false. Use it only for servers that support
    /// the field.
    public var sendsIdempotencyKey: Bool?
    /// The priority of the call in the queues of the pipeline and of the transport; nil means `.normal`.
    public var priority: RequestOptions.Priority?

    /// The credential with which the call is sent, and whether it is required; nil means `.optional`.
    public var authentication: RequestOptions.Authentication?

    /// The custom values, by the identifiers of their key types.
    @usableFromInline var values: [ObjectIdentifier: Entry] = [:]

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let value: any Sendable
        let isOfCall: Bool
    }

    /// The custom values that may change an exchange: those whose key is not a `CallOptionKey`.
    package var exchangeValues: [ObjectIdentifier: any Sendable] {
        values.isEmpty ? [:] : values.filter { !$1.isOfCall }.mapValues(\.value)
    }

    /// Whether the call consists of one hop: every interceptor, including custom ones, must return a redirect unchanged
    /// and send nothing to its target. Default false.
    ///
    /// Calls set this option if no other target may receive their content, such as the calls of `OAuth2` that send
    /// refresh tokens and client secrets. An interceptor that follows redirects must check it.
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

    /// The value that an extension stored under this key, or the key's default value.
    public subscript<Key: RequestOptions.Key>(key: Key.Type) -> Key.Value {
        // Inlinable, so that modules that read their keys in each call do so without generic code.
        @inlinable
        get {
            values.isEmpty ? Key.defaultValue : values[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue
        }
        set { values[ObjectIdentifier(key)] = Entry(value: newValue, isOfCall: key is any CallOptionKey.Type) }
    }

    /// Returns these options, overridden by all options that `other` sets. An option that is nil in `other` keeps its
    /// value. Timeouts and limits are overridden individually, `acceptedStatuses` is combined, and values of extensions
    /// in `other` take precedence.
    func overridden(by other: RequestOptions) -> RequestOptions {
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

    /// A key for a custom value in `RequestOptions`.
    public protocol Key {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value if none was stored.
        static var defaultValue: Value { get }
    }
}

/// A key for a value that affects a call but not its exchanges. Calls whose options differ only in such values may
/// share an exchange.
package protocol CallOptionKey: RequestOptions.Key {}

private enum SingleHopKey: CallOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// The priority of a call in queues: for a connection slot to its host, and for `.rateLimit` and
    /// `.concurrencyLimit`.
    ///
    /// It orders the queues inside the client; no header field contains it. `URLSessionTransport` also sets it as the
    /// priority of the task. A steady stream of urgent calls delays other calls but does not starve them: every eighth
    /// turn is for the call that has waited longest.
    public enum Priority: Int, Hashable, Sendable, CaseIterable {
        /// After all other calls: for prefetching and background synchronization.
        case low
        /// The default priority.
        case normal
        /// Before all other calls: for content that the user is waiting for.
        case high
    }

    /// The credential with which a call is sent, and whether it is required.
    public enum Authentication: Hashable, Sendable {
        /// Sends no credential or signature of a built-in interceptor, even if there is one. Cookies are sent.
        case anonymous
        /// Sends the client's credential if there is one. This is the default.
        case optional
        /// Sends the client's credential. Without one, the call fails with `.notAuthenticated(.missingCredential)`
        /// before anything is sent. The requirement does not apply after a redirect to another origin, to which no
        /// credential is sent.
        case required
        /// Like `required`, but only with the credential that has this name.
        case named(String)

        /// Whether the call must not be sent without a credential.
        var isDemanding: Bool {
            switch self {
            case .anonymous, .optional: false
            case .required, .named: true
            }
        }
    }
}

/// A change to the options of all calls that a task makes.
///
/// For example, a refresh of a screen runs a closure of the app. All calls in the closure must reach the server, and
/// only their task can pass this requirement on to them. Child tasks inherit the change; detached tasks do not.
package enum TaskOptions {
    /// The function that changes the options of each call prepared in the task, after the options of the client and the
    /// call have been merged; nil for no change. The second argument is the timeouts of the client's configuration,
    /// which apply where the options set none.
    @TaskLocal package static var change: (@Sendable (inout RequestOptions, Timeouts) -> Void)?
}
