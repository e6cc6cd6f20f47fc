// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The `URLSessionConfiguration` of a transport: one of the app's, or a plain one, without any policy of its own.
enum SessionSettings {
    /// Far beyond every deadline of ours, whole seconds, and small enough for the milliseconds that Linux counts in.
    static let distantTimeout: Double = 7 * 86_400

    /// A copy of `base`, or a plain configuration, as a transport needs it.
    static func make(_ base: URLSessionConfiguration?, _ configuration: TransportConfiguration)
        -> URLSessionConfiguration
    {
        let settings = (base?.copy() as? URLSessionConfiguration) ?? .ephemeral
        // What these would do is policy, and interceptors do it the same on every engine.
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

    /// Why tasks of a session with this identifier would end the process; nil if it has none.
    ///
    /// A background session refuses data tasks and uploads from memory with an exception that Swift cannot catch.
    static func problem(identifier: String?) -> String? {
        identifier.map {
            "The configuration is one of a background session, \"\($0)\". A transport needs one of this process: "
                + "URLSessionConfiguration.ephemeral or .default."
        }
    }

    /// What URLSession would trap on, or send wrongly; nil if there is nothing.
    static func problem(_ base: URLSessionConfiguration?) -> String? {
        if let problem = problem(identifier: base?.identifier) { return problem }
        for (name, value) in base?.httpAdditionalHeaders ?? [:] {
            guard let name = name as? String, let value = value as? String else {
                return "URLSessionConfiguration.httpAdditionalHeaders: \"\(name)\" and its value have to be strings."
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
