// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The bytes from a script, which runs in a task, to the thread of its connection, which they wake.
struct MockChannel: Sendable {
    let pipe: WakePipe
    let output: ScriptOutput

    init() throws(MockError) {
        let pipe = try WakePipe()
        self.pipe = pipe
        output = ScriptOutput { pipe.wake() }
    }

    enum Piece {
        case bytes(Data)
        case ended(MockEventScript.Ending)
        /// The client has closed the connection, or the server stops.
        case gone
    }

    /// Waits for bytes or the end. Leaves bytes that the client has sent unread.
    func next(on socket: Int32, _ signal: StopSignal) -> Piece {
        var watched = StopSignal.peerEnd
        while true {
            pipe.drain()
            let bytes = output.take()
            if !bytes.isEmpty { return .bytes(bytes) }
            if let ending = output.ending { return .ended(ending) }
            let (wake, events) = signal.wait(for: watched, on: socket, or: pipe, until: .never)
            if wake == .stopped { return .gone }
            guard events != 0 else { continue }
            if events & Int32(POLLERR | POLLHUP) != 0 || LoopbackSocket.isClosed(socket) { return .gone }
            #if canImport(Darwin)
            // The bytes of the next request must not wake the thread repeatedly.
            watched = 0
            #else
            return .gone
            #endif
        }
    }
}
