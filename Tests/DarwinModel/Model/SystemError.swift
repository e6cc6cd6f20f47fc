// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// The errors of the system for those of `CurlTransport`. Codes of TLS are those of Foundation on Linux, one lower than
/// Apple's: the kernel, which reads them, is compiled for Linux.
enum SystemError {
    static func of(_ error: any Error) -> any Error {
        guard let failure = error as? NetworkError else { return error }
        let text = failure.detail
        func system(_ code: Int, _ cause: NSError? = nil) -> NSError {
            var info: [String: Any] = [NSLocalizedDescriptionKey: text]
            info[NSUnderlyingErrorKey] = cause
            return NSError(domain: NSURLErrorDomain, code: code, userInfo: info)
        }
        func proxy(_ code: Int) -> NSError {
            system(NSURLErrorCannotConnectToHost, NSError(domain: "kCFErrorDomainCFNetwork", code: code))
        }
        return switch failure.reason {
        case .cancelled: system(NSURLErrorCancelled)
        case .unreachable:
            // 6 is libcurl's failure to find a host.
            system(
                (failure.underlying as? NetworkError.TransportFailure)?.code == 6
                    ? NSURLErrorCannotFindHost : NSURLErrorCannotConnectToHost)
        case .proxyFailed(.notAuthenticated): proxy(307)
        case .proxyFailed(.unreachable): proxy(306)
        case .proxyFailed: proxy(311)
        case .secureConnectionFailed(.expired): system(-1202)
        case .secureConnectionFailed(.notYetValid): system(-1205)
        case .secureConnectionFailed(.clientCertificate): system(-1207)
        case .secureConnectionFailed(.handshake): system(-1201)
        case .secureConnectionFailed: system(-1203)
        case .timedOut: system(NSURLErrorTimedOut)
        case .badResponse: system(NSURLErrorCannotParseResponse)
        case .limitExceeded: system(NSURLErrorDataLengthExceedsMaximum)
        case .encoding: failure.underlying ?? system(NSURLErrorRequestBodyStreamExhausted)
        case .storage: system(NSURLErrorCannotOpenFile)
        default: system(NSURLErrorNetworkConnectionLost)
        }
    }
}
