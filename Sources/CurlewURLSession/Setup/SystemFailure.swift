// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// URLSession's errors in the package's words. Code and text stay in `underlying`.
///
/// On Linux many failures share the code for "unknown"; there the text, which is libcurl's, tells them apart.
enum SystemFailure {
    /// The error of a task that URLSession ended.
    static func error(_ error: any Error, isSecure: Bool, hasHead: Bool) -> NetworkError {
        let failure = error as NSError
        let text = failure.localizedDescription
        var result = NetworkError(
            reason(for: failure, isSecure: isSecure, hasHead: hasHead), detail: text, hint: hint(for: failure),
            underlying: TransportFailure(
                engine: "URLSession", code: failure.code, message: text, systemError: systemError(of: failure)))
        #if canImport(Darwin)
        if result.reason.isAboutCertificate { result.certificates = AppleTrust.certificates(in: error) }
        #endif
        return result
    }

    /// ENETDOWN for what URLSession calls a device without a network.
    private static func systemError(of failure: NSError) -> Int32 {
        if failure.domain == NSPOSIXErrorDomain { return Int32(clamping: failure.code) }
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
            // CFNetwork's own error lies below, and alone tells whether it was the proxy.
            let cause = failure.userInfo[NSUnderlyingErrorKey] as? NSError
            if cause?.domain == networkDomain, let proxy = cause.flatMap({ proxyFailure($0.code) }) {
                return .proxyFailed(proxy)
            }
            return reason(for: failure.code, text, isSecure: isSecure, hasHead: hasHead)
        case networkDomain: return networkReason(failure.code, text, isSecure: isSecure, hasHead: hasHead)
        case NSPOSIXErrorDomain where failure.code == Int(POSIXErrorCode.ECONNREFUSED.rawValue): return .unreachable
        case NSPOSIXErrorDomain where failure.code == Int(POSIXErrorCode.ENOSPC.rawValue): return .storage
        case NSCocoaErrorDomain: return .storage
        default: return .connectionLost(.requestMayHaveArrived)
        }
    }

    /// What to do, where it is not the same for all errors of a reason.
    private static func hint(for failure: NSError) -> String? {
        guard failure.domain == NSURLErrorDomain else { return nil }
        switch failure.code {
        case transportSecurity:
            return "App Transport Security allows https only. Use it, or name the host in Info.plist under "
                + "NSAppTransportSecurity: NSExceptionDomains, or NSAllowsLocalNetworking for the local network."
        case needsSharedContainer:
            return "Set sharedContainerIdentifier of the background configuration to the app group of the extension."
        case isInUseElsewhere: return "Give each process, an app and its extensions, an identifier of its own."
        default: return nil
        }
    }

    // Codes of Apple platforms, which Foundation on Linux does not name (NSURLError.h).
    private static let transportSecurity = -1022
    private static let needsSharedContainer = -995
    private static let isInUseElsewhere = -996

    /// `kCFErrorDomainCFNetwork`.
    private static let networkDomain = "kCFErrorDomainCFNetwork"

    /// The reason for a code of CFNetwork's own (CFNetworkErrors.h); below zero they are those of `NSURLErrorDomain`.
    private static func networkReason(
        _ code: Int, _ text: String, isSecure: Bool, hasHead: Bool
    ) -> NetworkError.Reason {
        if code < 0 { return reason(for: code, text, isSecure: isSecure, hasHead: hasHead) }
        if let proxy = proxyFailure(code) { return .proxyFailed(proxy) }
        switch code {
        // The host's name has no address.
        case 1, 2: return .unreachable
        // Authentication: of an unknown kind, refused.
        case 300, 301: return .notAuthenticated(.refused)
        // Not HTTP, or a loop of redirects.
        case 303, 304: return .badResponse
        case 305: return .invalidRequest
        default: return .connectionLost(.requestMayHaveArrived)
        }
    }

    /// What a code of CFNetwork's own says about a proxy; nil if it is about something else.
    private static func proxyFailure(_ code: Int) -> NetworkError.ProxyFailure? {
        switch code {
        // Bad credentials: of a SOCKS proxy, of an HTTP proxy, of the server that holds the proxy's configuration file.
        case 122, 307, 309: .notAuthenticated
        // No connection to the proxy for http, for https.
        case 306, 310: .unreachable
        // What else a SOCKS proxy did; a configuration file that is missing or wrong; an answer to CONNECT.
        case 100...124, 308, 311: .refused(nil)
        default: nil
        }
    }

    /// The reason for a code of `NSURLErrorDomain`.
    static func reason(
        for code: Int, _ text: String, isSecure: Bool, hasHead: Bool
    ) -> NetworkError.Reason {
        switch code {
        // Linux: the protocol that is not supported may be the answer's.
        case NSURLErrorUnsupportedURL where text.contains("HTTP"): .badResponse
        // Its own limits are set far away: this is the system's for a connection that does not come about.
        case NSURLErrorTimedOut: hasHead ? .timedOut(.idle) : .timedOut(.connect)
        // Linux: nothing came at all.
        case NSURLErrorBadServerResponse where text.contains("Empty reply"):
            .connectionLost(.requestMayHaveArrived)
        case NSURLErrorUnknown: unknown(text, isSecure: isSecure, hasHead: hasHead)
        default: SystemErrorCode.reason(forURLError: code)
        }
    }

    /// What libcurl says about a failure that has no code on Linux.
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

    /// The error after and during a shutdown.
    static var shutdown: NetworkError {
        NetworkError(.refused(by: .shutdown), detail: "The transport has been shut down.")
    }
}
