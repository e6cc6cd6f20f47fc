// SPDX-License-Identifier: MIT

import Foundation

/// Decides when to call the completion handler that reports to the system that the app has processed the events of a
/// background session.
///
/// The system wakes the app, delivers the session's events, and reports when all have been delivered. The app may
/// provide the handler before or after that report, because a session that is created early in a launch receives its
/// events immediately. If the handler is called too early, the app may be suspended before all events are delivered. If
/// it is never called, the app loses background time.
struct LaunchEvents<Handler> {
    /// How long the report that all events have been delivered stays valid for a handler that is provided later, in
    /// seconds: 30, the time that the system allows for a launch.
    static var patience: Double { 30 }

    private var waiting: [Handler] = []
    private var delivered: Date?

    /// Adds a handler. Returns the handlers to call now: this one if the report arrived recently, and otherwise none.
    mutating func add(_ handler: Handler, at date: Date) -> [Handler] {
        if let delivered, abs(date.timeIntervalSince(delivered)) < Self.patience {
            self.delivered = nil
            return [handler]
        }
        delivered = nil
        waiting.append(handler)
        return []
    }

    /// Records that all events have been delivered. Returns the handlers to call now: those that wait.
    mutating func finish(at date: Date) -> [Handler] {
        defer { waiting = [] }
        delivered = waiting.isEmpty ? date : nil
        return waiting
    }

    /// Invalidates the last report, because an event or a new transfer has followed.
    mutating func goOn() {
        delivered = nil
    }
}
