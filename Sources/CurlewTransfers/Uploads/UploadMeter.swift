// SPDX-License-Identifier: MIT

import CurlewCore

/// The progress of an upload whose parts have positions of their own. Reported values never decrease.
final class UploadMeter: Sendable {
    private struct State {
        var positions: [Int64]
        /// The number of the newest pass of each part. Bytes of an older one are ignored: they may be reported late.
        var passes: [Int]
        var hasStarted = false
    }

    private let meter: ProgressMeter?
    private let state: Locked<State>

    init(_ handler: TransferProgress.Handler?, parts: Int, total: Int64?, time: any TimeSource) {
        meter = handler.map { ProgressMeter($0, total: total, time: time) }
        state = Locked(State(positions: Array(repeating: 0, count: parts), passes: Array(repeating: 0, count: parts)))
    }

    var isObserved: Bool { meter != nil }

    /// Moves a part to the offset that the server has.
    func move(_ part: Int, to offset: Int64) {
        guard let meter else { return }
        let start = state.withLock { state -> Int64? in
            state.positions[part] = offset
            let sum = state.positions.reduce(0, +)
            meter.restart(at: sum)
            defer { state.hasStarted = true }
            return state.hasStarted ? nil : sum
        }
        if let start { meter.start(at: start) }
    }

    /// Adds bytes that the transport has taken in a pass.
    private func add(_ count: Int, to part: Int, pass: Int) {
        guard let meter else { return }
        state.withLock { state in
            guard state.passes[part] == pass else { return }
            state.positions[part] += Int64(count)
            meter.restart(at: state.positions.reduce(0, +))
        }
        meter.add(0)
    }

    /// The sum of the positions.
    var completed: Int64 { state.withLock { $0.positions.reduce(0, +) } }

    func setTotal(_ total: Int64?) {
        meter?.setTotal(total)
    }

    /// Reports the last value.
    func end() {
        meter?.end()
    }

    /// Returns the body, whose bytes are counted for `part` from `offset`, each time that it is sent.
    func counting(_ body: RequestBody, for part: Int, at offset: Int64, length: Int64?) -> RequestBody {
        guard isObserved, length != 0, !body.isEmpty else { return body }
        return body.counted(length: length) {
            let pass = self.state.withLock { state in
                state.passes[part] += 1
                return state.passes[part]
            }
            self.move(part, to: offset)
            return { count in if let count { self.add(count, to: part, pass: pass) } }
        }
    }
}
