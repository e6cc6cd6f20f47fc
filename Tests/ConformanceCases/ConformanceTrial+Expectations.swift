// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

extension ConformanceTrial {
    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(ConformanceFailure) {
        if !condition { throw ConformanceFailure(message()) }
    }

    func equal<Value: Equatable>(
        _ found: Value, _ expected: Value, _ what: @autoclosure () -> String
    ) throws(ConformanceFailure) {
        if found != expected {
            throw ConformanceFailure("\(what()) is \(Self.shown(found)), expected was \(Self.shown(expected))")
        }
    }

    /// Expects equal bytes. The error reports lengths and the first difference, because the bytes may be too many to
    /// print.
    func equal(_ found: Data, _ expected: Data, _ what: @autoclosure () -> String) throws(ConformanceFailure) {
        guard found != expected else { return }
        let common = zip(found, expected).prefix { $0 == $1 }.count
        throw ConformanceFailure(
            "\(what()) has \(found.count) bytes, expected were \(expected.count); they differ from byte \(common) on")
    }

    func expectText(_ response: HTTPResponse, _ text: String) async throws {
        try equal(try await response.text(), text, "the body")
    }

    /// Expects that `work` throws a `NetworkError` with one of these reasons, and returns the error.
    @discardableResult
    func expectFailure(
        _ reasons: NetworkError.Reason..., work: () async throws -> Void
    ) async throws -> NetworkError {
        do {
            try await work()
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            guard let error = error as? NetworkError else {
                throw ConformanceFailure("a transport throws NetworkError only, not \(type(of: error)): \(error)")
            }
            try expect(
                reasons.contains(error.reason),
                "the reason is \(error.reason), expected was \(reasons.map { "\($0)" }.joined(separator: " or ")): \(error)"
            )
            try expectTexts(error)
            return error
        }
        throw ConformanceFailure("it succeeded, expected was \(reasons.map { "\($0)" }.joined(separator: " or "))")
    }

    /// Expects that the message for users contains no technical details, and that the detail for developers is not
    /// empty.
    private func expectTexts(_ error: NetworkError) throws {
        if error.isCancelled { return }
        for word in ["http", "://", "127.0.0.1", "curl", "errno", "NSURL"] {
            try expect(!error.message.contains(word), "the message for people contains \"\(word)\": \(error.message)")
        }
        try expect(!error.detail.isEmpty, "the error says nothing to the developer: \(error)")
    }

    /// Expects that `work` ends with a timeout of the phase: not before `limit`, and less than 20 seconds after it.
    func expectTimeout(
        _ phase: NetworkError.Phase, after limit: Duration, work: () async throws -> Void
    ) async throws {
        let start = SuspendingClock.now
        try await expectFailure(.timedOut(phase), work: work)
        let elapsed = SuspendingClock.now - start
        try expect(elapsed >= limit - .milliseconds(10), "it ended after \(elapsed), before its limit of \(limit)")
        try expect(elapsed < limit + .seconds(20), "it ended after \(elapsed), long after its limit of \(limit)")
    }

    /// Polls `condition` until it is true. Use it for conditions that cause no notification. Throws after 10 seconds.
    func eventually(_ what: @autoclosure () -> String, _ condition: () -> Bool) async throws {
        let end = SuspendingClock.now + .seconds(10)
        while !condition() {
            guard SuspendingClock.now < end else { throw ConformanceFailure("this did not come about: \(what())") }
            try await SystemTime().sleep(for: .milliseconds(2))
        }
    }

    /// Polls `reading` every 60 ms, and returns its value when two consecutive values are equal and greater than zero.
    func standstill(of reading: () -> Int) async throws -> Int {
        var last = -1
        while true {
            let now = reading()
            if now == last, now > 0 { return now }
            last = now
            try await SystemTime().sleep(for: .milliseconds(60))
        }
    }

    private static func shown(_ value: some Any) -> String {
        let text = "\(value)".debugDescription
        return text.count > 300 ? text.prefix(300) + "…" : text
    }
}

extension HTTPResponse {
    /// Returns the complete body, read chunk by chunk.
    func chunksJoined() async throws -> Data {
        var all = Data()
        for try await chunk in body { all += chunk }
        return all
    }
}
