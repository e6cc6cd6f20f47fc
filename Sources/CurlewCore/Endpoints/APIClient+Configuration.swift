// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension APIClient {
    /// The settings of all calls of a client, for every transport.
    ///
    ///     var configuration = APIClient.Configuration()
    ///     configuration.codecs = .snakeCase
    ///     configuration.timeouts.total = .seconds(20)
    ///     let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)
    public struct Configuration: Sendable {
        /// The header fields of every call to the client's origin. Default none. A call's own fields replace those of
        /// the same names, and calls to other origins do not include these fields. A client without a base URL sends
        /// only fields that are harmless or declared as such; `APIClient.problems` lists the others.
        public var headers: HTTPHeaders
        /// The app's declarations about its request fields, cookies, query items, members and paths: which are harmless
        /// and which are secret. By default there are none beyond those built into Curlew.
        public var fields: Redaction.Rules
        /// The `User-Agent` field of every request, unless `headers` or the call set that field. Default `Curlew/0.1`.
        /// With nil, the client adds none; URLSession then sends its own.
        public var userAgent: String?
        /// The timeouts that apply unless a call sets its own. Default connect 10 s, first byte 30 s, idle 30 s, total
        /// 300 s.
        public var timeouts: Timeouts
        /// The limits that apply unless a call sets its own. Default headers 256 KiB and 1000 fields, bodies 64 MiB,
        /// downloads 16 GiB, decoded ratio 100, error excerpts 16 KiB, 20 redirects.
        public var limits: Limits
        /// The codecs for request and response bodies. Default JSON with unchanged keys. They determine the `Accept`
        /// field of calls whose response a codec decodes; other calls accept any type.
        public var codecs: Codecs
        /// The observers of all calls, notified in this order. Default none.
        public var observers: [any RequestObserver]
        /// The time source for deadlines, waits and dates. Default the clocks of the system.
        public var time: any TimeSource

        /// Creates a configuration. Omitted parameters have the defaults.
        public init(
            headers: HTTPHeaders = HTTPHeaders(), userAgent: String? = "Curlew/0.1", timeouts: Timeouts = .standard,
            limits: Limits = .standard, codecs: Codecs = .json,
            observers: [any RequestObserver] = [], time: any TimeSource = SystemTime(),
            fields: Redaction.Rules = Redaction.Rules()
        ) {
            self.headers = headers
            self.userAgent = userAgent
            self.timeouts = timeouts
            self.limits = limits
            self.codecs = codecs
            self.observers = observers
            self.time = time
            self.fields = fields
        }
    }
}

extension APIClient.Configuration: CustomReflectable {
    /// A mirror that shows most settings, for `print`, debuggers and `dump`. It omits the values of fields that are
    /// secret by their names or by `fields`.
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
