// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Errors of Foundation that mocks, hooks and endpoints throw.
@Suite(.timeLimit(.minutes(1)))
struct SystemErrorTests {
    @Test(
        "An NSError of the system's domains has the reason that its code represents",
        arguments: [
            ("NSURLErrorDomain", -999, NetworkError.Reason.cancelled), ("NSURLErrorDomain", -1001, .timedOut(.idle)),
            ("NSURLErrorDomain", -1003, .unreachable), ("NSURLErrorDomain", -1004, .unreachable),
            ("NSURLErrorDomain", -1005, .connectionLost(.requestMayHaveArrived)),
            ("NSURLErrorDomain", -1009, .unreachable), ("NSURLErrorDomain", -1011, .badResponse),
            ("NSURLErrorDomain", -1102, .invalidRequest), ("NSURLErrorDomain", -1103, .limitExceeded(.responseBody)),
            ("NSURLErrorDomain", -1200, .secureConnectionFailed(.handshake)),
            ("NSURLErrorDomain", -3003, .storage),
            ("NSURLErrorDomain", -1013, .notAuthenticated(.missingCredential)),
            ("NSPOSIXErrorDomain", Int(POSIXErrorCode.ECONNREFUSED.rawValue), .unreachable),
            ("NSPOSIXErrorDomain", Int(POSIXErrorCode.ECONNRESET.rawValue), .connectionLost(.requestMayHaveArrived)),
            ("NSPOSIXErrorDomain", Int(POSIXErrorCode.ENOSPC.rawValue), .storage),
            ("NSPOSIXErrorDomain", Int(POSIXErrorCode.ECANCELED.rawValue), .cancelled),
            ("NSCocoaErrorDomain", 260, .storage), ("NSCocoaErrorDomain", 3840, .decoding),
            ("NSCocoaErrorDomain", 3072, .cancelled), ("NSCocoaErrorDomain", 4097, .interceptor),
            ("com.example.shop", 7, .interceptor), ("com.example.shop", 260, .interceptor),
        ])
    func codes(domain: String, code: Int, reason: NetworkError.Reason) async {
        let error = NetworkError(NSError(domain: domain, code: code))
        #expect(error.reason == reason)
        #expect((error.underlying as NSError?)?.code == code)
        #expect(error.detail.contains("file could not be used") == (reason == .storage))
    }

    @Test("A cancellation stays one when it has passed through Objective-C")
    func bridgedCancellation() {
        #expect(NetworkError(CancellationError() as NSError).isCancelled)
        #expect(NetworkError(NSError(domain: CancellationError()._domain, code: 1)).isCancelled)
    }

    @Test("Foundation's own error structs mean the same, also outside of Foundation")
    func structs() {
        #expect(NetworkError(CocoaError(.fileNoSuchFile)).reason == .storage)
        #expect(NetworkError(CocoaError(.propertyListReadCorrupt)).reason == .decoding)
        #expect(NetworkError(POSIXError(.ECONNREFUSED)).reason == .unreachable)
        #expect(NetworkError(POSIXError(.ENETDOWN)).isOffline)
    }

    @Test("A missing network is distinguished from a host that is away")
    func offline() {
        #expect(NetworkError(NSError(domain: "NSURLErrorDomain", code: -1009)).isOffline)
        #expect(!NetworkError(NSError(domain: "NSURLErrorDomain", code: -1004)).isOffline)
        #expect(NetworkError(NSError(domain: "NSURLErrorDomain", code: -1003)).reachedNoServer)
        #expect(!NetworkError(NSError(domain: "NSURLErrorDomain", code: -1004)).reachedNoServer)
    }

    @Test("A stub, a hook and an endpoint may throw errors of the system")
    func thrown() async {
        struct Own: Endpoint {
            typealias Response = Int
            var path: RequestPath { "/own" }
            func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Int {
                throw NSError(domain: "NSURLErrorDomain", code: -1005)
            }
        }
        let stub = APIClient.mock {
            $0.onAny { _ in throw NSError(domain: "NSURLErrorDomain", code: -1009) }
            $0.on(Own.self, .status(.ok))
        }
        await #expect(throws: NetworkError(.unreachable)) { try await stub.send(Request<Int>.get("/")) }
        await #expect(throws: NetworkError(.connectionLost(.requestMayHaveArrived))) { try await stub.send(Own()) }
        let hook = stub.adding(.onRequest { _, _ in throw NSError(domain: "NSURLErrorDomain", code: -1001) })
        await #expect(throws: NetworkError(.timedOut(.idle))) { try await hook.send(Request<Int>.get("/")) }
    }

    @Test("A retry treats errors of the system by their reason")
    func retried() async throws {
        let mock = MockTransport.answering { call in
            if call.context.attempt == 1 { throw NSError(domain: "NSURLErrorDomain", code: -1005) }
            return .json(text: "1")
        }
        var configuration = APIClient.Configuration()
        configuration.time = ManualClock.skippingWaits
        let client = APIClient.mock(mock, pipeline: .standard, configuration: configuration)
        #expect(try await client.send(Request<Int>.get("/")) == 1)
        #expect(mock.requestCount == 2)
    }
}
