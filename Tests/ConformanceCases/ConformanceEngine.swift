// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// A factory for the transports under test. All of them are of one kind.
public struct ConformanceEngine: Sendable {
    /// The name of the transport in reports, such as "curl".
    public let name: String
    /// The scope of the cases that the transport is required to pass. A transport with the scope `wire` is required to
    /// pass all cases.
    public let scope: ConformanceCase.Scope

    let make: @Sendable (TransportConfiguration, ConformanceTrial) throws -> any Transport
    let shutDown: @Sendable (any Transport, TransportConfiguration.ShutdownMode) async -> Void

    /// Creates an engine for transports that use a network.
    ///
    /// - `make`: creates a transport with the given configuration. Each case creates one or more transports.
    /// - `shutDown`: shuts down a transport that `make` created.
    public init<Made: Transport>(
        _ name: String, make: @escaping @Sendable (TransportConfiguration) throws -> Made,
        shutDown: @escaping @Sendable (Made, TransportConfiguration.ShutdownMode) async -> Void
    ) {
        self.name = name
        scope = .wire
        self.make = { configuration, _ in try make(configuration) }
        self.shutDown = { transport, mode in
            if let made = transport as? Made { await shutDown(made, mode) }
        }
    }

    private init(mock: @escaping @Sendable (RecordedRequest, ConformanceTrial) throws -> HTTPResponse) {
        name = "MockTransport"
        scope = .message
        make = { _, trial in MockTransport.answering { try mock($0, trial) } }
        shutDown = { _, _ in }
    }

    /// An engine for `MockTransport`. Its stubs return the responses that the server of the case would send, without a
    /// network.
    public static let mock = ConformanceEngine { call, trial in
        guard let server = trial.server(at: call.request.origin) else {
            throw NetworkError(.unreachable, detail: "The case has no server there.")
        }
        return try server.response(to: call).response(to: call)
    }

    /// The cases that the transport is required to pass.
    public var cases: [ConformanceCase] {
        ConformanceSuite.cases.filter { scope == .wire || $0.scope == .message }
    }
}

extension MockResponse {
    /// Returns the response that a client would parse from this one. Ignores the faults, because they need a
    /// connection.
    fileprivate func response(to call: RecordedRequest) throws -> HTTPResponse {
        if let socketScript { return .webSocket(socketScript, to: call.request.headers) }
        var response = HTTPResponse(status: status, headers: headers)
        if let eventScript, call.method != .head {
            response.body = HTTPResponse.events(eventScript).body
            return response
        }
        let content = try MockContent(body)
        if let length = content.length, !status.forbidsContent, !headers.contains(.contentLength) {
            response.headers.append(.contentLength, "\(length)")
        }
        if !status.forbidsContent, call.method != .head {
            response.body = ResponseBody(Pieces(content: content), length: content.length.map(Int64.init))
        }
        return response
    }
}

/// The pieces of a response's content as an asynchronous sequence.
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
