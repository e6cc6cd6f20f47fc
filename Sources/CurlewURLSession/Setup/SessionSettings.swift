// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Creates the `URLSessionConfiguration` of a transport, from the app's configuration or a plain one, with all policies
/// disabled.
enum SessionSettings {
    /// A timeout in whole seconds that exceeds every deadline of the transport, and is small enough for the
    /// milliseconds that Linux uses.
    static let distantTimeout: Double = 7 * 86_400

    /// Returns a copy of `base`, or a plain configuration, with the settings that a transport needs.
    static func make(_ base: URLSessionConfiguration?, _ configuration: TransportConfiguration)
        -> URLSessionConfiguration
    {
        let settings = (base?.copy() as? URLSessionConfiguration) ?? .ephemeral
        // These settings are policies, which interceptors implement identically for every transport.
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.httpCookieAcceptPolicy = .never
        settings.urlCredentialStorage = nil
        if base == nil { settings.requestCachePolicy = .reloadIgnoringLocalCacheData }
        settings.timeoutIntervalForRequest = distantTimeout
        settings.httpMaximumConnectionsPerHost = max(1, configuration.pool.perHost)
        #if canImport(Darwin)
        settings.timeoutIntervalForResource = distantTimeout
        settings.tlsMinimumSupportedProtocolVersion = configuration.tls.minimumVersion == .v13 ? .TLSv13 : .TLSv12
        AppleProxy.set(configuration.proxy, in: settings)
        #endif
        return settings
    }

    /// Returns why tasks of a session with this identifier would terminate the process, or nil if there is no
    /// identifier.
    ///
    /// A background session rejects data tasks and uploads from memory with an exception that Swift cannot catch.
    static func problem(identifier: String?) -> String? {
        identifier.map {
            "The configuration is one of a background session, \"\($0)\". A transport requires one of this process: "
                + "URLSessionConfiguration.ephemeral or .default."
        }
    }

    /// Returns the setting on which URLSession would trap, or which it would send incorrectly; nil if there is none.
    static func problem(_ base: URLSessionConfiguration?) -> String? {
        if let problem = problem(identifier: base?.identifier) { return problem }
        for (name, value) in base?.httpAdditionalHeaders ?? [:] {
            guard let name = name as? String, let value = value as? String else {
                return "URLSessionConfiguration.httpAdditionalHeaders: \"\(name)\" and its value must be strings."
            }
            var headers = HTTPHeaders()
            headers.append(HTTPField.Name(name), value)
            if let problem = headers.problem {
                return "URLSessionConfiguration.httpAdditionalHeaders: \(problem.description)."
            }
        }
        return nil
    }
}
