// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// What the errors of Apple's URLSession and CFNetwork are for a caller.
@Suite(.timeLimit(.minutes(1)))
struct SystemFailureTests {
    private static let network = "kCFErrorDomainCFNetwork"

    private func error(
        _ code: Int, in domain: String = NSURLErrorDomain, below: NSError? = nil
    ) -> NetworkError {
        let info = below.map { [NSUnderlyingErrorKey: $0] } ?? [:]
        return SystemFailure.error(
            NSError(domain: domain, code: code, userInfo: info), isSecure: true, hasHead: false)
    }

    @Test("App Transport Security: nothing was sent, and the hint says where to allow it")
    func transportSecurity() {
        let failure = error(-1022)
        #expect(failure.reason == .configuration)
        #expect(failure.hint?.contains("Info.plist") == true)
        #expect(failure.hint?.contains("NSAppTransportSecurity") == true)
    }

    @Test(
        "Proxy failures are recognized, as CFNetwork's own errors and below those of URLSession",
        arguments: [
            (306, NetworkError.ProxyFailure.unreachable), (307, .notAuthenticated), (308, .refused(nil)),
            (309, .notAuthenticated), (310, .unreachable), (311, .refused(nil)), (100, .refused(nil)),
            (122, .notAuthenticated), (124, .refused(nil)),
        ])
    func proxies(code: Int, expected: NetworkError.ProxyFailure) {
        #expect(error(code, in: Self.network).reason == .proxyFailed(expected))
        let below = NSError(domain: Self.network, code: code)
        for outer in [NSURLErrorNetworkConnectionLost, NSURLErrorCannotConnectToHost, NSURLErrorSecureConnectionFailed]
        {
            #expect(error(outer, below: below).reason == .proxyFailed(expected))
        }
    }

    @Test(
        "Other errors of CFNetwork have their reasons",
        arguments: [
            (1, NetworkError.Reason.unreachable), (2, .unreachable), (301, .notAuthenticated(.refused)),
            (302, .connectionLost(.requestMayHaveArrived)), (303, .badResponse), (305, .invalidRequest),
            (-1003, .unreachable), (-1022, .configuration), (9999, .connectionLost(.requestMayHaveArrived)),
        ])
    func network(code: Int, expected: NetworkError.Reason) {
        #expect(error(code, in: Self.network).reason == expected)
    }

    @Test("An underlying error about something else changes nothing")
    func unrelated() {
        let posix = NSError(domain: NSPOSIXErrorDomain, code: 310)
        #expect(error(NSURLErrorCannotConnectToHost, below: posix).reason == .unreachable)
        let network = NSError(domain: Self.network, code: -1003)
        #expect(error(NSURLErrorCannotFindHost, below: network).reason == .unreachable)
    }

    @Test("Credentials, files and background sessions have their reasons")
    func others() {
        #expect(error(-1013).reason == .notAuthenticated(.missingCredential))
        #expect(error(-1012).reason == .notAuthenticated(.refused))
        for code in [-995, -996] {
            #expect(error(code).reason == .configuration)
            #expect(error(code).hint != nil)
        }
        for code in -3007 ... -3000 { #expect(error(code).reason == .storage) }
        #expect(error(28, in: NSPOSIXErrorDomain).reason == .storage, "no space is left")
        #expect(error(Int(POSIXErrorCode.ECONNREFUSED.rawValue), in: NSPOSIXErrorDomain).reason == .unreachable)
        #expect(error(1, in: "another").reason == .connectionLost(.requestMayHaveArrived))
    }
}
