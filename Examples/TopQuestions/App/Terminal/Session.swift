// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import Observation
import Synchronization

/// A reader at a terminal: takes what happens, one after the other, and draws what came of it.
@MainActor
final class Session {
    private let reader: Reader
    private let terminal: Terminal
    private let painter: Painter
    private let events: AsyncStream<TerminalEvent>
    private let continuation: AsyncStream<TerminalEvent>.Continuation
    private let isChanged = Announcement()
    private var turn = 0
    private var ticker: Task<Void, Never>?

    init(_ reader: Reader, _ terminal: Terminal, _ painter: Painter) {
        self.reader = reader
        self.terminal = terminal
        self.painter = painter
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    /// Runs until the user quits; the status to exit with.
    func run() async -> Int32 {
        TerminalEvents.begin(continuation)
        reader.start()
        draw()
        for await event in events {
            switch event {
            case .key(let key):
                guard reader.press(key, page: Screen.bodyRows(of: terminal.size.rows)) else { return 0 }
            case .changed: isChanged.take()
            case .tick: turn += 1
            case .resized: break
            case .asked(let signal): return 128 + signal
            case .gone: return 1
            }
            draw()
        }
        return 1
    }

    private func draw() {
        let lines = withObservationTracking {
            reader.lines(in: terminal.size, turn: turn)
        } onChange: { [isChanged, continuation] in
            // Called before the change; the event is handled after it. Each drawing registers again, so several
            // are notified at once, and one event is enough.
            if isChanged.make() { continuation.yield(.changed) }
        }
        terminal.draw(lines.map(painter.paint))
        if reader.isLoading, ticker == nil { ticker = Task { await tick() } }
    }

    private func tick() async {
        try? await Task.sleep(for: .milliseconds(100))
        ticker = nil
        continuation.yield(.tick)
    }
}

/// Something that is said once until it is taken note of.
private final class Announcement: Sendable {
    private let isMade = Mutex(false)

    /// True the first time.
    func make() -> Bool {
        isMade.withLock { made in
            defer { made = true }
            return !made
        }
    }

    func take() { isMade.withLock { $0 = false } }
}
#endif
