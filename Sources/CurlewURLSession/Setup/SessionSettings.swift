// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Creates the `URLSessionConfiguration` of a transport, with URLSession's own policies disabled.
enum SessionSettings {
    /// A timeout of one week, in seconds. It is longer than usual deadlines, so that the transport enforces its
    /// deadlines itself. It has whole seconds, and fits into the milliseconds that Linux uses.
    static let distantTimeout: Double = 7 * 86_400

    /// Returns a copy of `base`, or of the ephemeral configuration if `base` is nil, with the settings that a transport
    /// needs.
    static func make(_ base: URLSessionConfiguration?, _ configuration: TransportConfiguration)
        -> URLSessionConfiguration
    {
        let settings = (base?.copy() as? URLSessionConfiguration) ?? .ephemeral
        // These settings are policies. Interceptors implement them identically for every transport.
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

    /// Returns why a transport cannot use a session with this identifier; nil if there is no identifier.
    ///
    /// A session with an identifier is a background session. It rejects data tasks and uploads from memory with an
    /// exception that Swift cannot catch and that terminates the process.
    static func problem(identifier: String?) -> String? {
        identifier.map {
            "The configuration is one of a background session, \"\($0)\". A transport requires one of this process: "
                + "URLSessionConfiguration.ephemeral or .default."
        }
    }

    /// Returns a sentence about the first setting that would make URLSession trap or send incorrect fields; nil if
    /// there is none.
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
