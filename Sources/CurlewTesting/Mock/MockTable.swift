// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

struct MockStub: Sendable {
    let delay: Duration
    let respond: @Sendable (RecordedRequest) async throws -> HTTPResponse
}

/// The state of a mock transport: stubs, failures, and the recorded calls.
struct MockTable: Sendable {
    struct Typed: Sendable {
        let name: String
        let accepts: @Sendable (RecordedRequest) -> Bool
        let stub: MockStub
    }

    struct Failure: Sendable {
        let accepts: @Sendable (RecordedRequest) -> Bool
        let occurrence: MockTransport.Occurrence
        let stub: MockStub
        var count = 0
    }

    static let maximumCalls = 1000

    var typed: [Typed] = []
    var routes = RouteTable<MockStub>()
    var any: MockStub?
    var failures: [Failure] = []
    private(set) var calls: [RecordedRequest] = []
    private(set) var callCount = 0

    mutating func record(_ call: RecordedRequest) {
        callCount += 1
        if calls.count >= 2 * Self.maximumCalls { calls.removeFirst(Self.maximumCalls) }
        calls.append(call)
    }

    /// Counts the call for every failure that applies to it, and returns the stub of the failure that is due; nil if
    /// none is due. If several are due, returns the stub of the one that was added last.
    mutating func dueFailure(for call: RecordedRequest) -> MockStub? {
        var due: MockStub?
        for index in failures.indices where failures[index].accepts(call) {
            failures[index].count += 1
            if failures[index].occurrence.includes(failures[index].count) { due = failures[index].stub }
        }
        return due
    }

    func stub(for call: RecordedRequest) -> (stub: MockStub, parameters: PathParameters)? {
        if let typed = typed.last(where: { $0.accepts(call) }) { return (typed.stub, PathParameters()) }
        if case .found(let stub, let parameters, _) = routes.match(call.method, call.request.target) {
            return (stub, parameters)
        }
        return any.map { ($0, PathParameters()) }
    }

    /// The error for a call without a stub, with a report of the nearest stub.
    func unmatched(_ call: RecordedRequest) -> NetworkError {
        let shown = call.request.secrets.redaction.url(call.request.target)
        let stubs = routes.patterns.map { $0.candidate(for: call.method, shown) }
        let typed = typed.map { stub in
            let type = call.endpointName.map { "the type of the call is \($0), not \(stub.name)" }
            return RequestMismatch.Candidate(
                name: "for calls of the type \(stub.name)", differences: [type ?? "the call has no endpoint type"])
        }
        let report = RequestMismatch("No stub matches \(call).", among: stubs + typed, noun: .stub)
        return NetworkError(
            .refused(by: .mock), detail: report.summary,
            hint: "Add a stub with on(…), or handle all other calls with onAny.",
            request: NetworkError.RequestLine(call.request), underlying: report)
    }
}

extension MockTransport {
    /// The calls that fail, by number. Each failure counts the calls to which it applies, from 1.
    public struct Occurrence: Sendable {
        let includes: @Sendable (Int) -> Bool

        /// All calls fail.
        public static let always = Occurrence { _ in true }
        /// Only the first call fails.
        public static let once = first(1)
        /// The first `count` calls fail.
        public static func first(_ count: Int) -> Occurrence { Occurrence { $0 <= count } }
        /// Only the call with this number fails. The first call has the number 1.
        public static func call(_ number: Int) -> Occurrence { Occurrence { $0 == number } }
    }
}
