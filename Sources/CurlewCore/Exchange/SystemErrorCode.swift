// SPDX-License-Identifier: MIT

import CurlewFoundation

/// The domain and code of an error, which `URLError`, `NSError` and other errors have in common.
///
/// This module does not link FoundationNetworking, so `URLError` is not available. The standard library provides the
/// domain and code of every error for bridging. For a Swift error, these are its type and case.
struct SystemErrorCode: Hashable, Sendable {
    private let domain: String
    private let code: Int

    init(_ error: any Error) {
        // On Linux the standard library has no domain and code for these two, and every `NSError` can be cast to
        // `CocoaError`.
        if type(of: error) == CocoaError.self, let error = error as? CocoaError {
            self.init(domain: "NSCocoaErrorDomain", code: error.code.rawValue)
        } else if type(of: error) == POSIXError.self, let error = error as? POSIXError {
            self.init(domain: "NSPOSIXErrorDomain", code: Int(error.code.rawValue))
        } else {
            self.init(domain: error._domain, code: error._code)
        }
    }

    private init(domain: String, code: Int) {
        self.domain = domain
        self.code = code
    }

    /// The reason with which a call fails after this error; nil if the error is not one of the system.
    var reason: NetworkError.Reason? {
        switch domain {
        case "NSURLErrorDomain": .ofURLError(code)
        case "kCFErrorDomainCFNetwork":
            code < 0 ? .ofURLError(code) : .connectionLost(.requestMayHaveArrived)
        case "NSPOSIXErrorDomain": posixReason
        case "NSCocoaErrorDomain": cocoaReason
        default: nil
        }
    }

    /// Whether this device has no network.
    var isOffline: Bool {
        switch domain {
        case "NSURLErrorDomain": Self.offlineCodes.contains(code)
        case "NSPOSIXErrorDomain": [ENETUNREACH, ENETDOWN].contains(Int32(clamping: code))
        default: false
        }
    }

    /// Whether the attempt reached no server: there was no network, no route to the host, or no address for its name.
    var reachedNoServer: Bool {
        isOffline || domain == "NSURLErrorDomain" && [-1003, -1006].contains(code)
            || domain == "NSPOSIXErrorDomain" && code == EHOSTUNREACH
    }

    /// The codes of `URLError` for a device without network: not connected, roaming is off, a phone call is active,
    /// data is not allowed.
    private static let offlineCodes = [-1009, -1018, -1019, -1020]

    private var posixReason: NetworkError.Reason? {
        switch Int32(clamping: code) {
        case ECANCELED: .cancelled
        case ECONNREFUSED, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EADDRNOTAVAIL: .unreachable
        case ETIMEDOUT: .timedOut(.connect)
        case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, ENETRESET: .connectionLost(.requestMayHaveArrived)
        case ENOENT, EACCES, EPERM, EEXIST, ENOTDIR, EISDIR, ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, EFBIG: .storage
        default: nil
        }
    }

    private var cocoaReason: NetworkError.Reason? {
        switch code {
        // NSFileErrorMinimum to NSFileErrorMaximum (FoundationErrors.h).
        case 0...1023: .storage
        case 3072: .cancelled
        // Property lists, JSON and archives that cannot be read; a missing value.
        case 3840...3850, 4864, 4865: .decoding
        case 3851, 3852, 4866: .encoding
        default: nil
        }
    }
}

extension NetworkError.Reason {
    /// Returns the reason for a code of `NSURLErrorDomain` (NSURLError.h), as far as the code determines it.
    ///
    /// The codes are literals, because Foundation on Linux has names for fewer of them, and this module does not import
    /// those names.
    package static func ofURLError(_ code: Int) -> Self {
        switch onApple(code) {
        case -999: .cancelled
        // The URL is malformed or not supported.
        case -1000, -1002: .invalidRequest
        // The idle timeout of URLSession.
        case -1001: .timedOut(.idle)
        // The host was not found or cannot be connected to, the lookup failed, or there is no network.
        case -1003, -1004, -1006, -1009, -1018, -1019, -1020: .unreachable
        // Too many redirects, a bad or empty response, or content that cannot be decoded or parsed.
        case -1007, -1011, -1014, -1015, -1016, -1017: .badResponse
        case -1012: .notAuthenticated(.refused)
        case -1013: .notAuthenticated(.missingCredential)
        case -1021: .encoding
        // App Transport Security; an extension without a shared container; an identifier that another process uses.
        case -1022, -995, -996: .configuration
        // The file to upload is missing, a folder, or not readable.
        case -1100, -1101, -1102: .invalidRequest
        // The data of the resource is longer than allowed.
        case -1103: .limitExceeded(.responseBody)
        case -1200: .secureConnectionFailed(.handshake)
        case -1201: .secureConnectionFailed(.expired)
        case -1202, -1203: .secureConnectionFailed(.untrusted)
        case -1204: .secureConnectionFailed(.notYetValid)
        case -1205, -1206: .secureConnectionFailed(.clientCertificate)
        // The file of a download cannot be created, written or moved.
        case -3007 ... -3000: .storage
        default: .connectionLost(.requestMayHaveArrived)
        }
    }

    /// Returns the code that Apple's Foundation uses. Foundation on Linux numbers the TLS codes one lower.
    private static func onApple(_ code: Int) -> Int {
        #if canImport(Darwin)
        code
        #else
        (-1207 ... -1201).contains(code) ? code + 1 : code
        #endif
    }
}
