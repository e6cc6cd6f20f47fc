// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What all calls of a client have in common. The same on every transport.
///
///     var configuration = ClientConfiguration()
///     configuration.codecs = .snakeCase
///     configuration.timeouts.total = .seconds(20)
///     let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)
public struct ClientConfiguration: Sendable {
    /// Header fields of every call to the client's origin. Default none. A call's own fields replace them; a call to
    /// another origin gets none of them. Without a base URL there is no such origin: then all calls get those that are
    /// harmless or declared as such, and the others are sent nowhere, which `APIClient.problems` tells.
    public var headers: HTTPHeaders
    /// What the app knows of its request fields, cookies, query items, members and paths: which are harmless, which are
    /// secret. Default nothing beyond what Curlew knows.
    public var fields: FieldRules
    /// The `User-Agent` field, sent everywhere; nil sends none. Default `Curlew/0.1`.
    public var userAgent: String?
    /// Timeouts for calls that name none. Default connect 10 s, first byte 30 s, idle 30 s, total 300 s.
    public var timeouts: Timeouts
    /// Bounds for calls that name none. Default headers 256 KiB, bodies 64 MiB, error excerpts 16 KiB, 20 redirects.
    public var limits: Limits
    /// How bodies are written and answers are read. Default JSON with keys as they are. `Accept` follows from it.
    public var codecs: Codecs
    /// Where completion closures run that are not bound to the main actor. Default `.anywhere`.
    public var completionExecutor: CompletionExecutor
    /// Who listens to what happens, in this order. Default nobody.
    public var observers: [any RequestObserver]
    /// Where time comes from. Default the system's clocks.
    public var time: any TimeSource

    /// A configuration with the defaults where nothing is said.
    public init(
        headers: HTTPHeaders = HTTPHeaders(), userAgent: String? = "Curlew/0.1", timeouts: Timeouts = .standard,
        limits: Limits = .standard, codecs: Codecs = .json, completionExecutor: CompletionExecutor = .anywhere,
        observers: [any RequestObserver] = [], time: any TimeSource = SystemTime(), fields: FieldRules = FieldRules()
    ) {
        self.headers = headers
        self.userAgent = userAgent
        self.timeouts = timeouts
        self.limits = limits
        self.codecs = codecs
        self.completionExecutor = completionExecutor
        self.observers = observers
        self.time = time
        self.fields = fields
    }
}

extension ClientConfiguration: CustomReflectable {
    /// Shows what is set, to `print`, debuggers and `dump`; fields that are secret by their names or by `fields` without
    /// their values.
    public var customMirror: Mirror {
        var headers = headers
        DeclaredSecrets(fields).declare(in: &headers)
        let children: KeyValuePairs<String, Any> = [
            "headers": headers, "fields": fields, "userAgent": userAgent ?? "none", "timeouts": timeouts,
            "limits": limits, "observers": observers.count,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
