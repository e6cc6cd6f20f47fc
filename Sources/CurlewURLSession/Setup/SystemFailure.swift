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
        let underlying = TransportFailure(engine: "URLSession", code: failure.code, message: text)
        guard failure.domain == NSURLErrorDomain else {
            return NetworkError(
                .connectionLost(.requestMayHaveArrived), detail: text, underlying: underlying)
        }
        return NetworkError(
            reason(for: failure.code, text, isSecure: isSecure, hasHead: hasHead), detail: text, underlying: underlying)
    }

    /// The reason for a code of `NSURLErrorDomain`.
    static func reason(
        for code: Int, _ text: String, isSecure: Bool, hasHead: Bool
    ) -> NetworkError.Reason {
        switch code {
        case NSURLErrorCancelled: .cancelled
        // Linux: the protocol that is not supported may be the answer's.
        case NSURLErrorUnsupportedURL where text.contains("HTTP"): .badResponse
        case NSURLErrorBadURL, NSURLErrorUnsupportedURL, NSURLErrorDataLengthExceedsMaximum: .invalidRequest
        case NSURLErrorCannotFindHost, NSURLErrorCannotConnectToHost, NSURLErrorDNSLookupFailed,
            NSURLErrorNotConnectedToInternet, NSURLErrorInternationalRoamingOff, NSURLErrorDataNotAllowed,
            NSURLErrorCallIsActive:
            .unreachable
        // Its own limits are set far away: this is the system's for a connection that does not come about.
        case NSURLErrorTimedOut: hasHead ? .timedOut(.idle) : .timedOut(.connect)
        case NSURLErrorServerCertificateHasBadDate: .secureConnectionFailed(.expired)
        case NSURLErrorServerCertificateNotYetValid: .secureConnectionFailed(.notYetValid)
        case NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot:
            .secureConnectionFailed(.untrusted)
        case NSURLErrorClientCertificateRejected, NSURLErrorClientCertificateRequired:
            .secureConnectionFailed(.clientCertificate)
        case NSURLErrorSecureConnectionFailed: .secureConnectionFailed(.handshake)
        // Linux: nothing came at all.
        case NSURLErrorBadServerResponse where text.contains("Empty reply"):
            .connectionLost(.requestMayHaveArrived)
        case NSURLErrorBadServerResponse, NSURLErrorCannotDecodeContentData, NSURLErrorCannotDecodeRawData,
            NSURLErrorCannotParseResponse, NSURLErrorZeroByteResource, NSURLErrorHTTPTooManyRedirects:
            .badResponse
        case NSURLErrorRequestBodyStreamExhausted: .encoding
        case NSURLErrorFileDoesNotExist, NSURLErrorNoPermissionsToReadFile, NSURLErrorFileIsDirectory: .invalidRequest
        case NSURLErrorUnknown: unknown(text, isSecure: isSecure, hasHead: hasHead)
        default: .connectionLost(.requestMayHaveArrived)
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
