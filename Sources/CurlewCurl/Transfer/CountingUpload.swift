// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import Dispatch

/// An upload of bytes or files whose bytes are counted as libcurl takes them.
///
/// The counter may call the app, so it does not run on the event loop's thread: what is counted there is reported on a
/// queue of the upload, at most once in `interval`, and when the exchange has ended.
final class CountingUpload: Upload {
    private struct State {
        /// The counter of the current pass; nil until it has been created.
        var counter: CountedBody.Counter?
        /// True if the body is sent from its beginning, so that the next report creates a counter.
        var isNewPass = false
        /// The bytes of this pass that libcurl has taken, and those of them that are not reported.
        var sent: Int64 = 0
        var count = 0
        /// Whether the last byte has been taken, and whether that was reported.
        var isComplete = false
        var hasReportedEnd = false
        var isScheduled = false
        var lastReport: UInt64 = 0
    }

    /// The minimum time between two reports.
    private static let interval = 50_000_000 as UInt64

    private let upload: any Upload
    private let makeCounter: @Sendable () -> CountedBody.Counter
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "curlew-progress")

    init(_ upload: any Upload, _ makeCounter: @escaping @Sendable () -> CountedBody.Counter) {
        self.upload = upload
        self.makeCounter = makeCounter
    }

    var length: Int64? { upload.length }
    var trailers: HTTPHeaders { upload.trailers }

    func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.isNewPass = true }
        upload.begin(resume: resume)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        let step = upload.read(into: buffer)
        let isLast: Bool
        switch step {
        case .bytes(let count): isLast = note(count)
        case .end: isLast = note(0, isEnd: true)
        case .wait, .failed: return step
        }
        schedule(isLast: isLast)
        return step
    }

    /// Counts bytes, and returns whether they are the last ones: libcurl does not read beyond a known length.
    private func note(_ count: Int, isEnd: Bool = false) -> Bool {
        state.withLock { state in
            state.count += count
            state.sent += Int64(count)
            if isEnd || state.sent == length { state.isComplete = true }
            return state.isComplete
        }
    }

    private func schedule(isLast: Bool) {
        let now = DispatchTime.now().uptimeNanoseconds
        let moment = state.withLock { state -> UInt64? in
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return isLast ? now : max(now, state.lastReport + Self.interval)
        }
        guard let moment else { return }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: moment)) {
            self.state.withLock { $0.isScheduled = false }
            self.report()
        }
    }

    func rewind() -> Bool {
        guard upload.rewind() else { return false }
        state.withLock { state in
            state.isNewPass = true
            state.count = 0
            state.sent = 0
            state.isComplete = false
        }
        return true
    }

    func end() { upload.end() }

    func reportAll() async {
        await withUnsafeContinuation { continuation in
            queue.async {
                self.report()
                continuation.resume()
            }
        }
    }

    /// Reports what has been counted. Called on the queue.
    private func report() {
        let isNewPass = state.withLock { state in
            defer { state.isNewPass = false }
            return state.isNewPass
        }
        let new = isNewPass ? makeCounter() : nil
        let (counter, count, isEnd) = state.withLock { state in
            if let new { (state.counter, state.hasReportedEnd) = (new, false) }
            state.lastReport = DispatchTime.now().uptimeNanoseconds
            // If a pass has begun since, the next report begins with it.
            guard !state.isNewPass else { return (nil, 0, false) as (CountedBody.Counter?, Int, Bool) }
            let isEnd = state.isComplete && !state.hasReportedEnd
            defer { (state.count, state.hasReportedEnd) = (0, state.isComplete) }
            return (state.counter, state.count, isEnd)
        }
        if count > 0 { counter?(count) }
        if isEnd { counter?(nil) }
    }
}
#endif
