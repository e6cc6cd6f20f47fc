// SPDX-License-Identifier: MIT

import CurlewCore

/// The progress of an upload, whose position can go back to what the server has, and the bytes that were sent for it.
/// Reported values never decrease.
final class UploadMeter: Sendable {
    private struct State {
        var position: Int64 = 0
        var taken: Int64 = 0
        /// The number of the newest pass. Bytes of an older one are ignored: they may be reported late.
        var pass = 0
        var hasStarted = false
    }

    private let meter: ProgressMeter?
    private let state = Locked(State())

    init(_ handler: TransferProgress.Handler?, total: Int64, time: any TimeSource) {
        meter = handler.map { ProgressMeter($0, total: total, time: time) }
    }

    /// The bytes that transports have taken, in all passes.
    var taken: Int64 { state.withLock { $0.taken } }

    /// Moves to the offset that the server has.
    func move(to offset: Int64) {
        guard let meter else { return }
        let isFirst = state.withLock { state in
            state.position = offset
            meter.restart(at: offset)
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        if isFirst { meter.start(at: offset) }
    }

    /// Adds bytes that the transport has taken in a pass.
    private func add(_ count: Int, pass: Int) {
        state.withLock { state in
            state.taken += Int64(count)
            guard state.pass == pass else { return }
            state.position += Int64(count)
            meter?.restart(at: state.position)
        }
        meter?.add(0)
    }

    /// Reports the last value.
    func end() {
        meter?.end()
    }

    /// Returns the body, whose bytes are counted from `offset`, each time that it is sent.
    func counting(_ body: RequestBody, at offset: Int64, length: Int64?) -> RequestBody {
        guard length != 0, !body.isEmpty else { return body }
        return body.counted(length: length) {
            let pass = self.state.withLock { state in
                state.pass += 1
                return state.pass
            }
            self.move(to: offset)
            return { count in if let count { self.add(count, pass: pass) } }
        }
    }
}
