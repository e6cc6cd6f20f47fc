// SPDX-License-Identifier: MIT

import CurlewHTTP

extension TransportConfiguration {
    /// The settings for the resolution of host names.
    public struct DNS: Hashable, Sendable {
        /// The IP address families that a transport uses.
        public enum Addresses: Hashable, Sendable {
            /// IPv6 and IPv4, whichever connects first (RFC 8305).
            case any
            /// IPv4 only.
            case ipv4
            /// IPv6 only.
            case ipv6
        }

        /// A rule that makes a transport connect to another host or port than the URL specifies. The request, `Host`,
        /// TLS names and pins remain those of the URL. Hosts are compared whole; there are no patterns.
        public struct Override: Hashable, Sendable {
            /// The host of the URL.
            public var host: String
            /// The port of the URL. Nil means every port.
            public var port: Int?
            /// The host name or IP address to which the transport connects.
            public var target: String
            /// The port to connect to. Nil means the port of the URL.
            public var targetPort: Int?

            /// Creates an override that connects to `target` instead of `host`.
            public init(host: String, port: Int? = nil, target: String, targetPort: Int? = nil) {
                self.host = host
                self.port = port
                self.target = target
                self.targetPort = targetPort
            }

            /// The override as `host:port:target:port`, the form that libcurl accepts; nil if a part is not valid.
            package var line: String? {
                // An omitted port is valid, so 80 stands for it in this check.
                guard let from = Origin(scheme: "http", host: host, port: port ?? 80),
                    let to = Origin(scheme: "http", host: target, port: targetPort ?? 80)
                else { return nil }
                return "\(from.host):\(port.map(String.init) ?? ""):\(to.host):\(targetPort.map(String.init) ?? "")"
            }
        }

        /// The time for which a resolved address is cached, rounded up to whole seconds. Zero resolves the name for
        /// each connection. Default 60 s.
        public var cacheLifetime: Duration
        /// The time after which the transport, while it tries one address, tries the next one in parallel, usually of
        /// the other family (RFC 8305 §5). Default 200 ms, at least 1 ms.
        public var happyEyeballsDelay: Duration
        /// The IP address families that a transport uses. Default `.any`.
        public var addresses: Addresses
        /// The rules that replace hosts or ports. The first rule that matches the URL applies. Default none.
        public var overrides: [Override]

        /// Creates a configuration. Omitted parameters have the defaults.
        public init(
            cacheLifetime: Duration = .seconds(60), happyEyeballsDelay: Duration = .milliseconds(200),
            addresses: Addresses = .any, overrides: [Override] = []
        ) {
            self.cacheLifetime = cacheLifetime
            self.happyEyeballsDelay = happyEyeballsDelay
            self.addresses = addresses
            self.overrides = overrides
        }

        var problems: [String] {
            overrides.filter { $0.line == nil }.map {
                "TransportConfiguration.DNS.overrides: from \"\($0.host)\" to \"\($0.target)\" has an invalid host or port."
            }
        }
    }
}
