// SPDX-License-Identifier: MIT

import CurlewTransfers
import CurlewUI
import Observation
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor
struct ObservableProgressTests {
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The newest value of a transfer on any thread arrives, and observers are notified")
    func newest() async {
        let progress = ObservableProgress()
        #expect(progress.value == nil && progress.fraction == nil)
        let handler = progress.handler
        let (changes, source) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            _ = progress.fraction
        } onChange: {
            source.finish()
        }
        await Task.detached {
            for completed in 0...1000 { handler(TransferProgress(completed: Int64(completed), total: 1000)) }
        }.value
        for await _ in changes {}
        while progress.fraction != 1 { await Task.yield() }
        #expect(progress.value?.isLast == false)
        handler(TransferProgress(completed: 1000, total: 1000, isLast: true))
        while progress.value?.isLast == false { await Task.yield() }
        #expect(progress.value?.isLast == true)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Values never go back, and reset drops what is under way")
    func order() async {
        let progress = ObservableProgress()
        let handler = progress.handler
        let work = Task.detached {
            for completed in 0...2000 {
                handler(TransferProgress(completed: Int64(completed), total: 2000, isLast: completed == 2000))
                if completed % 100 == 0 { await Task.yield() }
            }
        }
        var last: Int64 = 0
        while progress.value?.isLast != true {
            let completed = progress.value?.completed ?? 0
            #expect(completed >= last)
            last = completed
            await Task.yield()
        }
        await work.value
        handler(TransferProgress(completed: 1, total: 2))
        progress.reset()
        for _ in 0..<20 { await Task.yield() }
        #expect(progress.value == nil)
        handler(TransferProgress(completed: 2, total: 4))
        while progress.value == nil { await Task.yield() }
        #expect(progress.fraction == 0.5)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A handler does not keep the object")
    func release() async {
        var progress: ObservableProgress? = ObservableProgress()
        weak let weakProgress = progress
        let handler = progress?.handler
        progress = nil
        #expect(weakProgress == nil)
        handler?(TransferProgress(completed: 1))
    }
}
