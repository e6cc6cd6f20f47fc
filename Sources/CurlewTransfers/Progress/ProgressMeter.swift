// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation

/// Counts the bytes of one transfer, on any thread, and calls its handler at a bounded rate.
///
/// The handler is called one call at a time, with increasing values, and once with the last value.
final class ProgressMeter: Sendable {
    private struct State {
        var completed: Int64 = 0
        var total: Int64?
        /// The bytes of the current attempt. `completed` is their maximum over all attempts.
        var attempt: Int64 = 0
        var rate = TransferRate()
        var nextReport: SystemTime.Instant
        var isReporting = false
        /// A value that became due while the handler was running on another thread.
        var isDue = false
        var hasEnded = false
        var hasReportedEnd = false
    }

    /// The minimum time between two values.
    static let interval = Duration.milliseconds(100)

    private let handler: TransferProgress.Handler
    private let time: any TimeSource
    private let state: Locked<State>

    /// Creates a meter. `start()` reports the first value.
    init(_ handler: @escaping TransferProgress.Handler, total: Int64? = nil, time: any TimeSource) {
        self.handler = handler
        self.time = time
        state = Locked(State(total: total, nextReport: time.now))
    }

    /// Reports the first value: no bytes, or those that an earlier transfer left.
    func start(at completed: Int64 = 0) {
        change { state, now in
            state.attempt = completed
            state.completed = max(state.completed, completed)
            state.rate.begin(at: now, completed: state.completed)
            state.nextReport = now
        }
    }

    /// Sets the total. A value is reported with the next bytes.
    func setTotal(_ total: Int64?) {
        state.withLock { $0.total = total }
    }

    /// Begins the bytes again, at `completed`, for an attempt that sends or receives them once more.
    func restart(at completed: Int64 = 0) {
        state.withLock { $0.attempt = completed }
    }

    /// Adds bytes, and reports a value if the last one is old enough.
    func add(_ count: Int64) {
        change { state, now in
            state.attempt += count
            state.completed = max(state.completed, state.attempt)
            state.rate.update(at: now, completed: state.completed)
        }
    }

    /// Reports the last value. Further calls have no effect.
    func end() {
        change { state, now in
            state.hasEnded = true
            state.nextReport = now
        }
    }

    private func change(_ body: (inout State, SystemTime.Instant) -> Void) {
        let now = time.now
        let isDue = state.withLock { state in
            guard !state.hasEnded else { return false }
            body(&state, now)
            guard state.nextReport <= now else { return false }
            state.nextReport = now.advanced(by: Self.interval)
            state.isDue = true
            guard !state.isReporting else { return false }
            state.isReporting = true
            return true
        }
        if isDue { report() }
    }

    /// Calls the handler until no value is due, outside of the lock.
    private func report() {
        while true {
            let value = state.withLock { state -> TransferProgress? in
                guard state.isDue, !state.hasReportedEnd else {
                    state.isReporting = false
                    return nil
                }
                state.isDue = false
                state.hasReportedEnd = state.hasEnded
                return TransferProgress(
                    completed: state.completed, total: state.total, bytesPerSecond: state.rate.bytesPerSecond,
                    isLast: state.hasEnded)
            }
            guard let value else { return }
            handler(value)
        }
    }
}

/// A rate that is smoothed exponentially over time, with a time constant of five seconds. The weight of a sample
/// depends on its duration, so the result does not depend on how often bytes are counted.
struct TransferRate {
    /// Shorter periods are merged: at some clocks they have no duration.
    private static let minimumSample = 0.05
    private static let constant = 5.0

    private(set) var bytesPerSecond: Double = 0
    private var sampleStart: SystemTime.Instant?
    private var sampleCompleted: Int64 = 0
    /// The seconds of all samples. While they are few, the rate is their average.
    private var observed: Double = 0

    mutating func begin(at now: SystemTime.Instant, completed: Int64) {
        sampleStart = now
        sampleCompleted = completed
    }

    mutating func update(at now: SystemTime.Instant, completed: Int64) {
        guard let start = sampleStart else { return begin(at: now, completed: completed) }
        let seconds = Double(start.duration(to: now).wholeNanoseconds) / 1e9
        guard seconds >= Self.minimumSample else { return }
        let sample = Double(completed - sampleCompleted) / seconds
        observed += seconds
        // 1 - e^(-t/T), approximated by its bound t/(t+T); the average of all samples at the start.
        let weight = max(seconds / (seconds + Self.constant), min(1, seconds / observed))
        bytesPerSecond += (sample - bytesPerSecond) * weight
        begin(at: now, completed: completed)
    }
}

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
    /// taken, or when the call has ended before. An empty body reports nothing. Nor does a call that ends before it
    /// creates the body.
    public func reporting(_ handler: @escaping TransferProgress.Handler) -> RequestContent {
        changingBody { body throws(NetworkError) in
            guard !body.isEmpty else { return body }
            let length = body.lengthToSend
            let meter = BodyMeter(handler, total: length, time: SystemTime())
            return meter.counting(body, at: 0, length: length, isWhole: true)
        }
    }
}
