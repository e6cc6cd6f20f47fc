// SPDX-License-Identifier: MIT

import CurlewHTTP

/// How names become addresses.
public struct DNSConfiguration: Hashable, Sendable {
    /// Kinds of address.
    public enum Addresses: Hashable, Sendable {
        /// IPv6 and IPv4, whichever answers first (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Connects to another place than the URL says; the request, `Host`, TLS names and pins stay those of the URL.
    public struct Override: Hashable, Sendable {
        /// The host of the URL.
        public var host: String
        /// The port of the URL. Nil means every port.
        public var port: Int?
        /// The name or address to connect to.
        public var target: String
        /// The port to connect to. Nil means that of the URL.
        public var targetPort: Int?

        /// Connects to `target` instead of `host`.
        public init(host: String, port: Int? = nil, target: String, targetPort: Int? = nil) {
            self.host = host
            self.port = port
            self.target = target
            self.targetPort = targetPort
        }
    }

    /// How long an answer is used again, in whole seconds, rounded up. Zero asks each time. Default 60 s.
    public var cacheLifetime: Duration
    /// How long IPv6 has for itself before IPv4 is tried beside it. Default 200 ms, at least 1 ms.
    public var happyEyeballsDelay: Duration
    /// Which addresses are used. Default `.any`.
    public var addresses: Addresses
    /// Places that differ from what the URL says; the first that fits counts. Default none.
    public var overrides: [Override]

    /// A configuration with the defaults where nothing is said.
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
            "DNSConfiguration.overrides: \"\($0.host)\" to \"\($0.target)\" is not a host and a place to connect to."
        }
    }
}

extension DNSConfiguration.Override {
    /// The target as origins have hosts; nil if it cannot be one.
    package var targetHost: String? { Origin(scheme: "http", host: target, port: 80)?.host }

    /// `host:port:target:port`, as libcurl takes it; nil if one of them cannot be.
    package var line: String? {
        // A port that is left out is none of the problems.
        guard let from = Origin(scheme: "http", host: host, port: port ?? 80),
            let to = Origin(scheme: "http", host: target, port: targetPort ?? 80)
        else { return nil }
        return "\(from.host):\(port.map(String.init) ?? ""):\(to.host):\(targetPort.map(String.init) ?? "")"
    }
}
