// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Reports how many bytes the server has confirmed: the sum over all parts, when it has risen.
final class UploadAcknowledgement: Sendable {
    private let handler: (@Sendable (Int64) -> Void)?
    private let state = Locked(State())

    private struct State {
        var parts: [Int: Int64] = [:]
        var reported: Int64 = 0
        var isReporting = false
    }

    init(_ handler: (@Sendable (Int64) -> Void)?) {
        self.handler = handler
    }

    func report(_ part: Int, _ offset: Int64) {
        guard let handler else { return }
        let isFirst = state.withLock { state in
            state.parts[part] = offset
            defer { state.isReporting = true }
            return !state.isReporting
        }
        // The thread that reports also reports what others add meanwhile, so that the values arrive in order.
        guard isFirst else { return }
        while let sum = state.withLock({ Self.next(&$0) }) { handler(sum) }
    }

    private static func next(_ state: inout State) -> Int64? {
        let sum = state.parts.values.reduce(0, +)
        guard sum > state.reported else {
            state.isReporting = false
            return nil
        }
        state.reported = sum
        return sum
    }
}
