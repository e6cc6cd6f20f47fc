// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Reports how many bytes the server has confirmed: the sum over all parts, when it has risen.
final class UploadAcknowledgement: Sendable {
    private let handler: (@Sendable (Int64) -> Void)?
    private let state = Locked<(parts: [Int: Int64], reported: Int64)>(([:], 0))

    init(_ handler: (@Sendable (Int64) -> Void)?) {
        self.handler = handler
    }

    func report(_ part: Int, _ offset: Int64) {
        guard let handler else { return }
        // The handler is called under the lock, so that the values arrive in order.
        state.withLock { state in
            state.parts[part] = offset
            let sum = state.parts.values.reduce(0, +)
            guard sum > state.reported else { return }
            state.reported = sum
            handler(sum)
        }
    }
}
