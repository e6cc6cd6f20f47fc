// SPDX-License-Identifier: MIT

public import CurlewCore

/// The progress of a body that is sent several times, or from a later position again, and the number of bytes that
/// transports have taken for it. Reported values never decrease.
final class BodyMeter: Sendable {
    private struct State {
        var position: Int64 = 0
        var taken: Int64 = 0
        /// The number of the newest pass. Bytes of an older one are ignored: they may be reported late.
        var pass = 0
        var hasStarted = false
    }

    private let meter: ProgressMeter?
    private let state = Locked(State())

    init(_ handler: TransferProgress.Handler?, total: Int64?, time: any TimeSource) {
        meter = handler.map { ProgressMeter($0, total: total, time: time) }
    }

    // Another attempt may follow a pass that broke off. None can follow when the meter is released.
    deinit { end() }

    /// The bytes that transports have taken, in all passes.
    var taken: Int64 { state.withLock { $0.taken } }

    /// Moves to the position from which the next bytes are sent.
    func move(to position: Int64) {
        let isFirst = state.withLock { state in
            state.position = position
            meter?.restart(at: position)
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        if isFirst { meter?.start(at: position) }
    }

    /// Reports the last value.
    func end() {
        meter?.end()
    }

    /// Returns the body with the same bytes and trailers, which are counted from `position` each time that it is sent.
    ///
    /// - `isWhole`: whether the last value follows when the last byte has been taken.
    func counting(_ body: RequestBody, at position: Int64, length: Int64?, isWhole: Bool = false) -> RequestBody {
        guard length != 0, !body.isEmpty else { return body }
        return body.counted(length: length) {
            let pass = self.state.withLock { state in
                state.pass += 1
                return state.pass
            }
            self.move(to: position)
            return { self.count($0, pass: pass, isWhole) }
        }
    }

    private func count(_ count: Int?, pass: Int, _ isWhole: Bool) {
        let isCurrent = state.withLock { state in
            state.taken += Int64(count ?? 0)
            guard state.pass == pass else { return false }
            state.position += Int64(count ?? 0)
            meter?.restart(at: state.position)
            return true
        }
        guard isCurrent else { return }
        if count != nil { meter?.add(0) } else if isWhole { end() }
    }
}

extension RequestContent {
    /// Returns this content, which reports the progress of each call that sends it:
    ///
    ///     let photo = RequestContent.file(path).reporting { progress in print(progress) }
    ///     try await client.send(Request<Void>.post("/photos", body: photo))
    ///
    /// Bytes count when the transport takes them; some of them may still be in its buffers. When a call sends the body
    /// again, `completed` stays until the new bytes exceed it. The last value follows when the last byte has been
    /// taken, or when the call has ended before.
    public func reporting(_ handler: @escaping TransferProgress.Handler) -> RequestContent {
        changingBody { body throws(NetworkError) in
            guard !body.isEmpty else { return body }
            let length = body.lengthToSend
            let meter = BodyMeter(handler, total: length, time: SystemTime())
            return meter.counting(body, at: 0, length: length, isWhole: true)
        }
    }
}
