// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A factory of transports of one kind, on which cases run.
public struct ConformanceEngine: Sendable {
    /// Its name in reports: "curl".
    public let name: String
    /// Which cases the transport can be required to pass: those whose scope it covers.
    public let scope: ConformanceCase.Scope

    let make: @Sendable (TransportConfiguration, ConformanceTrial) throws -> any Transport
    let shutDown: @Sendable (any Transport, ShutdownMode) async -> Void

    /// Creates a transport.
    ///
    /// - `make`: creates a transport with this configuration; each case creates one or several.
    /// - `shutDown`: shuts down such a transport.
    public init<Made: Transport>(
        _ name: String, make: @escaping @Sendable (TransportConfiguration) throws -> Made,
        shutDown: @escaping @Sendable (Made, ShutdownMode) async -> Void
    ) {
        self.name = name
        scope = .wire
        self.make = { configuration, _ in try make(configuration) }
        self.shutDown = { transport, mode in
            if let made = transport as? Made { await shutDown(made, mode) }
        }
    }

    private init(mock: @escaping @Sendable (RecordedCall, ConformanceTrial) throws -> HTTPResponse) {
        name = "MockTransport"
        scope = .message
        make = { _, trial in MockTransport.answering { try mock($0, trial) } }
        shutDown = { _, _ in }
    }

    /// `MockTransport`, whose stubs return what the case's server would return, without a network.
    public static let mock = ConformanceEngine { call, trial in
        guard let server = trial.server(at: call.request.origin) else {
            throw NetworkError(.unreachable, detail: "The case has no server there.")
        }
        return try server.answer(RecordedRequest(call)).response(to: call.method)
    }

    /// The cases that the transport can be required to pass.
    public var cases: [ConformanceCase] {
        ConformanceSuite.cases.filter { scope == .wire || $0.scope == .message }
    }
}

extension RecordedRequest {
    /// Creates the request that a server would have recorded, from the call of a mock.
    fileprivate init(_ call: RecordedCall) {
        self.init(
            method: call.method, target: call.request.target, version: .http1_1, headers: call.request.headers,
            body: call.body, trailers: [:], connectionIndex: 0, exchangeIndex: 0, keepAlive: true)
    }
}

extension MockResponse {
    /// Returns the response that a client would parse from it. Faults cannot be represented.
    fileprivate func response(to method: HTTPMethod) throws -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers)
        let content = try MockContent(body)
        if let length = content.length, !status.forbidsContent, !headers.contains(.contentLength) {
            response.headers.append(.contentLength, "\(length)")
        }
        if !status.forbidsContent, method != .head {
            response.body = ResponseBody(Pieces(content: content), length: content.length.map(Int64.init))
        }
        return response
    }
}

/// Content piece by piece.
private struct Pieces: AsyncSequence, Sendable {
    let content: MockContent

    func makeAsyncIterator() -> Iterator { Iterator(content: content) }

    struct Iterator: AsyncIteratorProtocol {
        var content: MockContent

        mutating func next() async throws -> Data? {
            content.next(upTo: 16_384).map { Data($0) }
        }
    }
}
