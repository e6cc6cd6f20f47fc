// SPDX-License-Identifier: MIT

import Foundation

/// Decides when to call the completion handler that tells the system that the app has processed the events of a
/// background session. The app may provide it before or after the system reports that all events have been delivered.
struct LaunchEvents<Handler> {
    /// The seconds for which a report is valid for a handler that comes later: those that the system allows a launch.
    static var patience: Double { 30 }

    private var waiting: [Handler] = []
    private var delivered: Date?

    /// Adds a handler. Returns the handlers to call now: this one if the report arrived recently, and otherwise none.
    mutating func add(_ handler: Handler, at date: Date) -> [Handler] {
        defer { delivered = nil }
        if let delivered, abs(date.timeIntervalSince(delivered)) < Self.patience { return [handler] }
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
    mutating func reset() { delivered = nil }
}
