// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A pipe that ends the wait of a thread that polls its read end.
final class WakePipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(MockServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw MockServerError("the mock server could not open a pipe") }
        for end in ends { LoopbackSocket.configure(end) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the current wait, or the next one. A full pipe does so already.
    func wake() {
        _ = write(writeEnd, [1], 1)
    }

    /// Takes back the wake-ups so far. The thread calls this before it looks for what they announce.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(readEnd, &bytes, bytes.count) == bytes.count {}
    }
}
