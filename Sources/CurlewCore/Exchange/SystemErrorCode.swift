// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An error as its domain and code: what `URLError`, `NSError` and the like have in common.
///
/// This module links no FoundationNetworking, so it knows no `URLError`. The standard library knows domain and code of every
/// error, because it bridges errors with them; the type and the case of a Swift error are its domain and code.
package struct SystemErrorCode: Hashable, Sendable {
    private let domain: String
    private let code: Int

    package init(_ error: any Error) {
        // On Linux these two tell the standard library nothing, and each `NSError` can be cast to `CocoaError`.
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

    /// What it means for a call; nil for an error that is not the system's.
    package var reason: NetworkError.Reason? {
        switch domain {
        case "NSURLErrorDomain": Self.reason(forURLError: code)
        case "kCFErrorDomainCFNetwork":
            code < 0 ? Self.reason(forURLError: code) : .connectionLost(.requestMayHaveArrived)
        case "NSPOSIXErrorDomain": posixReason
        case "NSCocoaErrorDomain": cocoaReason
        default: nil
        }
    }

    /// This machine has no way to the network.
    package var isOffline: Bool {
        switch domain {
        case "NSURLErrorDomain": Self.offlineCodes.contains(code)
        case "NSPOSIXErrorDomain": [ENETUNREACH, ENETDOWN].contains(Int32(clamping: code))
        default: false
        }
    }

    /// No server heard of the attempt: no network, no route to the host, or no address for its name.
    package var reachedNobody: Bool {
        isOffline || domain == "NSURLErrorDomain" && [-1003, -1006].contains(code)
            || domain == "NSPOSIXErrorDomain" && code == EHOSTUNREACH
    }

    /// What `URLError` calls no network, no roaming, no data during a call, and none at all.
    private static let offlineCodes = [-1009, -1018, -1019, -1020]

    /// The reason for a code of `NSURLErrorDomain` (NSURLError.h), as far as the code alone tells it.
    ///
    /// Numbers, because Foundation on Linux names fewer of them, and this module no one.
    package static func reason(forURLError code: Int) -> NetworkError.Reason {
        switch onApple(code) {
        case -999: .cancelled
        // The URL: bad, not supported; more data than may be.
        case -1000, -1002, -1103: .invalidRequest
        // URLSession waits for the next byte for so long.
        case -1001: .timedOut(.idle)
        // Host not found, not connectable, lookup failed; no network and the like.
        case -1003, -1004, -1006, -1009, -1018, -1019, -1020: .unreachable
        // Too many redirects, bad answer, empty answer, content that cannot be decoded or parsed.
        case -1007, -1011, -1014, -1015, -1016, -1017: .badResponse
        case -1012: .notAuthenticated(.refused)
        case -1013: .notAuthenticated(.missingCredential)
        case -1021: .encoding
        // App Transport Security; an extension without a shared container; an identifier that another process uses.
        case -1022, -995, -996: .configuration
        // The file to upload: missing, a folder, not readable.
        case -1100, -1101, -1102: .invalidRequest
        case -1200: .secureConnectionFailed(.handshake)
        case -1201: .secureConnectionFailed(.expired)
        case -1202, -1203: .secureConnectionFailed(.untrusted)
        case -1204: .secureConnectionFailed(.notYetValid)
        case -1205, -1206: .secureConnectionFailed(.clientCertificate)
        // The file to download to.
        case -3007 ... -3000: .storage
        default: .connectionLost(.requestMayHaveArrived)
        }
    }

    /// Foundation on Linux counts the codes of TLS one lower than Apple's.
    private static func onApple(_ code: Int) -> Int {
        #if canImport(Darwin)
        code
        #else
        (-1207 ... -1201).contains(code) ? code + 1 : code
        #endif
    }

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
        // Property lists, JSON and archives that cannot be read; a value that is not there.
        case 3840...3850, 4864, 4865: .decoding
        case 3851, 3852, 4866: .encoding
        default: nil
        }
    }
}
