// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Detects options of `TransportConfiguration` that URLSession does not support.
///
/// Such options are rejected by name, not ignored: a client that requires pins must not continue without them.
enum Unsupported {
    /// Returns one sentence for each unsupported option that is set; empty if every option is supported.
    static func problems(_ configuration: TransportConfiguration, on system: Platform) -> [String] {
        var names = everywhere(configuration)
        if system == .linux { names += onLinux(configuration) } else { names += onApple(configuration) }
        return names.map { "\(system.engine) does not support \($0)." }
    }

    /// Returns the hint for errors about unsupported options.
    static func hint(on system: Platform) -> String { system.hint("Omit the option", orCurl: "which supports it") }

    private static func everywhere(_ configuration: TransportConfiguration) -> [String] {
        let (pool, dns, standard) = (configuration.pool, configuration.dns, TransportConfiguration())
        return [
            (configuration.unixSocket != nil, "TransportConfiguration.unixSocket"),
            (configuration.addressPolicy != .everything, "TransportConfiguration.addressPolicy"),
            (configuration.localAddress != nil, "TransportConfiguration.localAddress"),
            (configuration.httpVersions != .automatic, "TransportConfiguration.httpVersions other than .automatic"),
            (pool.total != nil, "TransportConfiguration.Pool.total"),
            (pool.lifetime != nil, "TransportConfiguration.Pool.lifetime"),
            (pool.waitingPerHost != standard.pool.waitingPerHost, "TransportConfiguration.Pool.waitingPerHost"),
            (pool.idle != standard.pool.idle, "TransportConfiguration.Pool.idle"),
            (pool.idleLifetime != standard.pool.idleLifetime, "TransportConfiguration.Pool.idleLifetime"),
            (pool.keepAlive != standard.pool.keepAlive, "TransportConfiguration.Pool.keepAlive"),
            (!pool.waitsForMultiplexing, "TransportConfiguration.Pool.waitsForMultiplexing = false"),
            (!dns.overrides.isEmpty, "TransportConfiguration.DNS.overrides"),
            (dns.addresses != .any, "TransportConfiguration.DNS.addresses"),
            (dns.cacheLifetime != standard.dns.cacheLifetime, "TransportConfiguration.DNS.cacheLifetime"),
            (
                dns.happyEyeballsDelay != standard.dns.happyEyeballsDelay,
                "TransportConfiguration.DNS.happyEyeballsDelay"
            ),
        ].compactMap { $0.0 ? $0.1 : nil }
    }

    private static func onLinux(_ configuration: TransportConfiguration) -> [String] {
        var names: [String] = []
        let tls = configuration.tls
        if tls.minimumVersion != .v12 { names.append("TransportConfiguration.TLS.minimumVersion other than .v12") }
        if tls.trustedRoots != .system { names.append("TransportConfiguration.TLS.trustedRoots other than .system") }
        if tls.identity != nil { names.append("TransportConfiguration.TLS.identity") }
        if !tls.pins.isEmpty { names.append("TransportConfiguration.TLS.pins") }
        if case .fixed = configuration.proxy { names.append("TransportConfiguration.Proxy.fixed") }
        return names
    }

    private static func onApple(_ configuration: TransportConfiguration) -> [String] {
        var names: [String] = []
        if configuration.tls.obeysKeyLogFile { names.append("TransportConfiguration.TLS.obeysKeyLogFile") }
        switch configuration.tls.identity?.source {
        case .pem?, .pemFiles?: names.append("TransportConfiguration.TLS.ClientIdentity.pem (write .pkcs12)")
        default: break
        }
        if case .fixed(let proxy, let bypassing) = configuration.proxy {
            if proxy.kind == .https { names.append("TransportConfiguration.Proxy.Server.Kind.https") }
            if proxy.kind == .socks5, proxy.user != nil { names.append("a SOCKS proxy with credentials") }
            if proxy.authentication != .basic {
                names.append("TransportConfiguration.Proxy.Server.authentication other than .basic")
            }
            if !bypassing.isEmpty { names.append("TransportConfiguration.Proxy.fixed(bypassing:)") }
        }
        return names
    }
}

/// The settings that libcurl takes from the environment on Linux, whatever the configuration of URLSession: a proxy,
/// and a file for TLS secrets.
///
/// libcurl reads the variables for each connection, and this cannot be disabled. It uses the proxy even for loopback
/// hosts. A request is therefore rejected if libcurl would use a different route than the configuration specifies.
struct EnvironmentProxies: Sendable {
    private let http: String?
    private let https: String?
    private let bypassing: [String]
    private let logsKeys: Bool

    init(_ environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        logsKeys = first("SSLKEYLOGFILE") != nil
        http = first("http_proxy", "all_proxy", "ALL_PROXY")
        https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        bypassing = (first("no_proxy", "NO_PROXY") ?? "").utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }
            .map { String(Substring($0)) }
    }

    /// Returns why libcurl would not use the route that `configuration` specifies for `origin`; nil if it would.
    func problem(for origin: Origin, _ configuration: TransportConfiguration.Proxy) -> String? {
        guard let text = origin.isSecure ? https : http, isUsed(text, for: origin) else { return nil }
        let expected = ProxyRules(configuration, environment: environment).proxy(for: origin)
        guard expected == nil else { return nil }
        return "The environment specifies a proxy, and URLSession on Linux uses it for \(origin.host) although "
            + "TransportConfiguration.proxy does not allow it."
    }

    /// Returns why a request to `origin` is rejected: libcurl would log its TLS secrets although the configuration does
    /// not allow that. Returns nil if the request can be sent.
    func keyLogProblem(for origin: Origin, _ tls: TransportConfiguration.TLS) -> String? {
        guard logsKeys, origin.isSecure, !tls.obeysKeyLogFile else { return nil }
        return
            "The environment specifies a file for connection secrets (SSLKEYLOGFILE), and URLSession on Linux writes "
            + "to it. Unset the variable, set TransportConfiguration.TLS.obeysKeyLogFile, or use CurlTransport."
    }

    static let hint =
        "Add the host to the variable no_proxy, unset the proxy variable, or use CurlTransport."

    private func isUsed(_ text: String, for origin: Origin) -> Bool {
        guard let proxy = TransportConfiguration.Proxy.Server(text) else { return true }
        return ProxyRules(.fixed(proxy, bypassing: bypassing)).proxy(for: origin, sparesLoopback: false) != nil
    }

    private var environment: [String: String] {
        var result: [String: String] = ["no_proxy": bypassing.joined(separator: ",")]
        result["http_proxy"] = http
        result["https_proxy"] = https
        return result
    }
}
