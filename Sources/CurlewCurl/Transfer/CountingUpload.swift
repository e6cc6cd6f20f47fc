// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import Dispatch

/// An upload of bytes or files whose bytes are counted as libcurl takes them.
///
/// The counter may call the app, so it does not run on the event loop's thread: what is counted there is reported on a
/// global queue, at most once in `interval`, and by the task of the call when the exchange has ended.
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
        var isReporting = false
        /// The calls that wait until a report on another thread has ended.
        var waiters: [UnsafeContinuation<Void, Never>] = []
        var lastReport: UInt64 = 0
    }

    private enum Report {
        case begin
        case count(CountedBody.Counter, Int)
        case end(CountedBody.Counter)
    }

    /// The minimum time between two reports.
    private static let interval = 50_000_000 as UInt64

    private let upload: any Upload
    private let makeCounter: @Sendable () -> CountedBody.Counter
    private let state = Locked(State())

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
        DispatchQueue.global().asyncAfter(deadline: DispatchTime(uptimeNanoseconds: moment)) {
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

    func end() {
        upload.end()
    }

    func reportAll() async {
        report()
        await withUnsafeContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isReporting { state.waiters.append(continuation) }
                return !state.isReporting
            }
            if isDone { continuation.resume() }
        }
    }

    /// Reports what has been counted. Does nothing while another thread reports, which then reports the rest too.
    private func report() {
        let mayReport = state.withLock { state in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard mayReport else { return }
        while let report = state.withLock({ Self.next(&$0) }) {
            switch report {
            case .begin:
                let counter = makeCounter()
                state.withLock { $0.counter = counter }
            case .count(let counter, let count): counter(count)
            case .end(let counter): counter(nil)
            }
        }
        let waiters = state.withLock { state in
            // Another thread may have begun a report since. It resumes those who wait for it.
            guard !state.isReporting else { return [UnsafeContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func next(_ state: inout State) -> Report? {
        state.lastReport = DispatchTime.now().uptimeNanoseconds
        if state.isNewPass {
            state.isNewPass = false
            state.hasReportedEnd = false
            state.counter = nil
            return .begin
        }
        guard let counter = state.counter else {
            state.isReporting = false
            return nil
        }
        if state.count > 0 {
            defer { state.count = 0 }
            return .count(counter, state.count)
        }
        if state.isComplete, !state.hasReportedEnd {
            state.hasReportedEnd = true
            return .end(counter)
        }
        state.isReporting = false
        return nil
    }
}
#endif
