// SPDX-License-Identifier: MIT

#if os(Linux)
import Testing

@testable import CurlewCurl

extension EventLoop {
    /// A loop without a transport. It has no thread.
    convenience init() {
        let (configuration, proxies) = (TransportConfiguration(), ProxyRules(.none, environment: [:]))
        let queues = RequestQueues(configuration: configuration, proxies: proxies, loops: 1)
        self.init(configuration: configuration, proxies: proxies, queues: queues, names: NameLookup(.any), number: 0)
    }
}

/// The store of easy handles keeps as many as a peak needs, and releases the surplus when the loop is idle.
@Suite(.timeLimit(.minutes(1)))
struct HandleStoreTests {
    @Test("The store releases the handles of a peak, and keeps 256")
    func surplus() throws {
        let loop = EventLoop()
        let multi = try #require(MultiHandle(loop: loop))
        defer { multi.close() }
        let store = multi.handles
        store.noteActive(300, at: 0)
        let handles = try (0..<300).map { _ in try #require(store.take()) }
        #expect(loop.gauges.handles == 300)
        for handle in handles { store.putBack(handle) }
        #expect(store.hasSurplus)
        #expect(loop.gauges.handles == 300)
        store.dropSurplus()
        #expect(!store.hasSurplus)
        #expect(loop.gauges.handles == 256)
        // Nothing more is released.
        store.dropSurplus()
        #expect(loop.gauges.handles == 256)
    }

    @Test("A peak rises at once and falls later")
    func peak() {
        var peak = RecentPeak()
        let second: Int64 = 1_000_000_000
        let steps: [(Int, Int64, Int)] = [
            (1, 0, 64), (70, 1, 128), (0, 2, 128), (3, 9, 128), (3, 10, 128), (2, 19, 128), (0, 20, 64), (0, 30, 0),
            (0, 40, 0), (65, 41, 128),
        ]
        for (count, time, value) in steps {
            let former = peak.value
            let hasChanged = peak.note(count, at: time * second)
            #expect(peak.value == value, "\(count) at \(time) s")
            #expect(hasChanged == (former != value))
        }
    }
}
#endif
