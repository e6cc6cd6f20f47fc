// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Converts URLSession's errors to `NetworkError`. The code and the text are kept in `underlying`.
///
/// On Linux, many failures have the code for unknown errors. The text of the error, a message of libcurl, distinguishes
/// them.
enum SystemFailure {
    /// Returns the `NetworkError` for the error with which URLSession ended a task.
    ///
    /// - `isSecure`: whether the request has an https URL.
    /// - `hasHead`: whether a response head has arrived.
    static func error(_ error: any Error, isSecure: Bool, hasHead: Bool) -> NetworkError {
        let failure = error as NSError
        let text = failure.localizedDescription
        var result = NetworkError(
            reason(for: failure, isSecure: isSecure, hasHead: hasHead), detail: text, hint: hint(for: failure),
            underlying: NetworkError.TransportFailure(
                engine: "URLSession", code: failure.code, message: text, systemError: systemError(of: failure)))
        #if canImport(Darwin)
        if result.reason.isAboutCertificate { result.certificates = AppleTrust.certificates(in: error) }
        #endif
        return result
    }

    /// Returns the error for a cancelled task of a background session; nil for another error. The system may have
    /// cancelled the task, and says why (NSURLErrorBackgroundTaskCancelledReasonKey).
    static func background(_ error: any Error) -> NetworkError? {
        let failure = error as NSError
        guard failure.domain == NSURLErrorDomain, failure.code == NSURLErrorCancelled else { return nil }
        let reason: String
        switch failure.userInfo["NSURLErrorBackgroundTaskCancelledReasonKey"] as? Int {
        case 0?: reason = "the user ended the app"
        case 1?: reason = "background refresh is turned off"
        case 2?: reason = "the system lacks resources"
        default: return NetworkError(.cancelled, detail: "The transfer was cancelled.")
        }
        return NetworkError(
            .connectionLost(.requestMayHaveArrived), detail: "The system ended the transfer: \(reason).",
            hint: "Start it again.")
    }

    /// Returns the POSIX error code of a failure; ENETDOWN for an error that reports a device without a network, and 0
    /// if there is no code.
    private static func systemError(of failure: NSError) -> Int32 {
        if [NSPOSIXErrorDomain, connectionDomain].contains(failure.domain) { return Int32(clamping: failure.code) }
        guard failure.domain == NSURLErrorDomain else { return 0 }
        switch failure.code {
        case NSURLErrorNotConnectedToInternet, NSURLErrorInternationalRoamingOff, NSURLErrorDataNotAllowed,
            NSURLErrorCallIsActive:
            return POSIXErrorCode.ENETDOWN.rawValue
        default: return 0
        }
    }

    private static func reason(for failure: NSError, isSecure: Bool, hasHead: Bool) -> NetworkError.Reason {
        let text = failure.localizedDescription
        switch failure.domain {
        case NSURLErrorDomain:
            // Only the underlying CFNetwork error says whether the proxy failed.
            let cause = failure.userInfo[NSUnderlyingErrorKey] as? NSError
            if cause?.domain == networkDomain, let proxy = cause.flatMap({ proxyFailure($0.code) }) {
                return .proxyFailed(proxy)
            }
            return reason(for: failure.code, text, isSecure: isSecure, hasHead: hasHead)
        case networkDomain: return networkReason(failure.code, text, isSecure: isSecure, hasHead: hasHead)
        case NSPOSIXErrorDomain, connectionDomain:
            switch failure.code {
            case Int(POSIXErrorCode.ECONNREFUSED.rawValue): return .unreachable
            case Int(POSIXErrorCode.ENOSPC.rawValue): return .storage
            // A WebSocket message is larger than `maximumMessageSize` of the task.
            case Int(POSIXErrorCode.EMSGSIZE.rawValue): return .limitExceeded(.responseBody)
            default: return .connectionLost(.requestMayHaveArrived)
            }
        case NSCocoaErrorDomain: return .storage
        default: return .connectionLost(.requestMayHaveArrived)
        }
    }

    /// Returns a hint for errors whose code calls for a specific one; nil for all others.
    private static func hint(for failure: NSError) -> String? {
        guard failure.domain == NSURLErrorDomain else { return nil }
        switch failure.code {
        case transportSecurity:
            return "App Transport Security allows https only. Use https, or list the host in Info.plist under "
                + "NSAppTransportSecurity: NSExceptionDomains, or NSAllowsLocalNetworking for the local network."
        case needsSharedContainer:
            return "Set sharedContainerIdentifier of the background configuration to the app group of the extension."
        case NSURLErrorCancelled:
            return "URLSession cancelled the task, without an order of the transport. Was its session invalidated?"
        case isInUseElsewhere: return "Use a separate identifier for each process (the app and its extensions)."
        default: return nil
        }
    }

    // Error codes of Apple platforms (NSURLError.h) that Foundation on Linux does not define.
    private static let transportSecurity = -1022
    private static let needsSharedContainer = -995
    private static let isInUseElsewhere = -996

    /// The domain in which Network.framework, which carries WebSocket connections, reports POSIX codes.
    private static let connectionDomain = "kNWErrorDomainPOSIX"

    /// The value of `kCFErrorDomainCFNetwork`.
    private static let networkDomain = "kCFErrorDomainCFNetwork"

    /// Returns the reason for a CFNetwork error code (CFNetworkErrors.h). Negative codes are codes of
    /// `NSURLErrorDomain`.
    private static func networkReason(
        _ code: Int, _ text: String, isSecure: Bool, hasHead: Bool
    ) -> NetworkError.Reason {
        if code < 0 { return reason(for: code, text, isSecure: isSecure, hasHead: hasHead) }
        if let proxy = proxyFailure(code) { return .proxyFailed(proxy) }
        switch code {
        // The host name has no address.
        case 1, 2: return .unreachable
        // The authentication scheme is unknown, or the server refused the credentials.
        case 300, 301: return .notAuthenticated(.refused)
        // The response is not HTTP, or the redirects form a loop.
        case 303, 304: return .badResponse
        case 305: return .invalidRequest
        default: return .connectionLost(.requestMayHaveArrived)
        }
    }

    /// Returns the proxy failure for a CFNetwork error code; nil if the code is not about a proxy.
    private static func proxyFailure(_ code: Int) -> NetworkError.ProxyFailure? {
        switch code {
        // The credentials were refused by a SOCKS proxy, an HTTP proxy, or the server of the proxy configuration file.
        case 122, 307, 309: .notAuthenticated
        // There is no connection to the proxy for http or https.
        case 306, 310: .unreachable
        // Other SOCKS failures, a missing or invalid configuration file, or an invalid response to CONNECT.
        case 100...124, 308, 311: .refused(nil)
        default: nil
        }
    }

    /// Returns the reason for an error code of `NSURLErrorDomain`.
    static func reason(
        for code: Int, _ text: String, isSecure: Bool, hasHead: Bool
    ) -> NetworkError.Reason {
        switch code {
        // A task that was cancelled by us has ended before. The system cancels others, such as those of a session that
        // its owner has invalidated.
        case NSURLErrorCancelled: .connectionLost(.requestMayHaveArrived)
        // Linux: the unsupported protocol may be the protocol of the response.
        case NSURLErrorUnsupportedURL where text.contains("HTTP"): .badResponse
        // The timeouts of the session are very long, so this is the system's timeout for establishing a connection.
        case NSURLErrorTimedOut: hasHead ? .timedOut(.idle) : .timedOut(.connect)
        // Linux: the server closed the connection without a response.
        case NSURLErrorBadServerResponse where text.contains("Empty reply"):
            .connectionLost(.requestMayHaveArrived)
        case NSURLErrorUnknown: unknown(text, isSecure: isSecure, hasHead: hasHead)
        default: .ofURLError(code)
        }
    }

    /// Returns the reason for a failure that has no specific code on Linux, from libcurl's text.
    private static func unknown(_ text: String, isSecure: Bool, hasHead: Bool) -> NetworkError.Reason {
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if says("Could not resolve") { return .unreachable }
        if says("proxy") { return .proxyFailed(.refused(nil)) }
        if isSecure, !hasHead {
            if says("subject name", "host name") { return .secureConnectionFailed(.wrongHost) }
            if says("certificate has expired") { return .secureConnectionFailed(.expired) }
            if says("not yet valid") { return .secureConnectionFailed(.notYetValid) }
            if says("certificate required", "bad certificate", "alert unknown ca") {
                return .secureConnectionFailed(.clientCertificate)
            }
            if says("SSL certificate", "peer certificate", "certificate") {
                return .secureConnectionFailed(.untrusted)
            }
            if says("SSL", "TLS", "handshake") { return .secureConnectionFailed(.handshake) }
        }
        if says("Out of memory") { return .limitExceeded(hasHead ? .responseBody : .responseHeaders) }
        let broken = says("chunk", "content ", "Weird server", "eader", "Content-Length", "PROTOCOL_ERROR")
        if broken { return .badResponse }
        return .connectionLost(.requestMayHaveArrived)
    }

    /// The error of calls that are made after a shutdown or that a shutdown ends.
    static var shutdown: NetworkError {
        NetworkError(.refused(by: .shutdown), detail: "The transport has been shut down.")
    }
}
