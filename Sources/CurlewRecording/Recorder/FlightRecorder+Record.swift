// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension FlightRecorder {
    /// The recording of one call: its requests on the wire, the decisions of the client, and the outcome.
    ///
    /// The value contains no secrets that the recorder's `Redaction` or the client's declarations cover. It is a
    /// snapshot of the call, except that `entries` also contains bodies that end later.
    public struct Record: Sendable {
        /// The number of the call, unique in this process: `ExchangeContext.id`.
        public internal(set) var call: UInt64
        /// The name of the route or endpoint; empty if the call has none.
        public internal(set) var routeName: String
        /// The moment when the call started.
        public internal(set) var date: Date
        /// The duration of the call; nil if it has not ended.
        public internal(set) var duration: Duration?
        /// The result of the call.
        public internal(set) var outcome = Outcome.running

        /// The start of the call, to which the times in the recording are relative.
        var start: SystemTime.Instant
        /// The method and the redacted URL of the request as the call began; nil if it could not be built.
        var method: HTTPMethod?
        var origin: Origin?
        var target = ""
        /// The request of a call that ended without one on the wire, as the call began.
        var request: RequestHead?
        /// The response of a call that sent no request.
        var response: ResponseHead?
        /// The source of the response; nil for the server.
        var source: String?
        var exchanges: [Exchange]
        var decisions: [Decision] = []
        /// The estimated size in memory.
        var bytes = 1024

        /// The result of a call.
        public enum Outcome: Hashable, Sendable {
            /// The call has not ended.
            case running
            /// The caller received a response with this status.
            case response(HTTPStatus)
            /// The caller received an error. The text has the label of its reason and its detail in one line, redacted.
            case failed(String)
        }

        init(_ context: ExchangeContext, exchanges: [Exchange] = []) {
            self.exchanges = exchanges
            call = context.id
            routeName = context.routeName
            date = context.time.date
            start = context.start
        }

        /// The number of recorded requests on the wire. Of a call, at most 200 are recorded.
        public var requestCount: Int { exchanges.count }
    }

    /// A decision, and the number of requests that the call had sent before it.
    struct Decision: Sendable {
        var time: Duration
        var name: String
        var text: String
        var position: Int
    }

    struct RequestHead: Sendable {
        var method: HTTPMethod
        var origin: Origin
        var target: String
        var headers: HTTPHeaders
        var size: Int
        var bodyLength: Int64?
        var hasBody: Bool

        var url: String { origin.description + target }
    }

    struct ResponseHead: Sendable {
        var status: HTTPStatus
        var reason: String?
        var headers: HTTPHeaders
        var size: Int
        var version: HTTPVersion
        var length: Int64?
    }

    struct Interim: Sendable {
        var time: Duration
        var status: HTTPStatus
        var headers: HTTPHeaders
    }

    /// One request on the wire.
    struct Exchange: Sendable {
        var number: Int
        var attempt: Int
        var hop: Int
        var start: Duration
        var request: RequestHead
        var response: ResponseHead?
        var failure: String?
        var metrics: ExchangeMetrics?
        var interim: [Interim] = []
        var trailers: HTTPHeaders?
        var bodies: RecordedBodies?
    }
}

extension FlightRecorder.Record: MirroredByDescription {
    /// The call in one line: `call 7 (GetUser): 200, 2 requests, 340 ms`.
    public var description: String {
        let name = routeName.isEmpty ? "" : " (\(routeName))"
        let result =
            switch outcome {
            case .running: "running"
            case .response(let status): "\(status.code)"
            case .failed(let text): text
            }
        let count = "\(exchanges.count) request\(exchanges.count == 1 ? "" : "s")"
        return "call \(call)\(name): \(result), \(count)\(duration.map { ", " + $0.brief } ?? "")".printable
    }
}
