// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(Darwin)
import CurlewCore
import Foundation

/// Proxies as `URLSessionConfiguration` takes them.
enum AppleProxy {
    /// `.environment` is what the system's settings say, `.none` is none whatever they say.
    static func set(_ proxy: ProxyConfiguration, in settings: URLSessionConfiguration) {
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
