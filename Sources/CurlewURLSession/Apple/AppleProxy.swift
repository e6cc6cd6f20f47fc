// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
import CurlewCore
import Foundation

/// Applies a proxy configuration to a `URLSessionConfiguration`.
enum AppleProxy {
    /// Sets the proxies of a configuration: `.environment` keeps the system's proxy settings, and `.none` disables
    /// proxies.
    static func set(_ proxy: TransportConfiguration.Proxy, in settings: URLSessionConfiguration) {
        switch proxy {
        case .environment: break
        case .none: settings.connectionProxyDictionary = [:]
        case .fixed(let server, _):
            // The constants for HTTPS exist on macOS only; their values work everywhere.
            settings.connectionProxyDictionary =
                switch server.kind {
                case .socks5: ["SOCKSEnable": 1, "SOCKSProxy": server.host, "SOCKSPort": server.port]
                default:
                    [
                        "HTTPEnable": 1, "HTTPProxy": server.host, "HTTPPort": server.port, "HTTPSEnable": 1,
                        "HTTPSProxy": server.host, "HTTPSPort": server.port,
                    ]
                }
        }
    }
}
#endif
