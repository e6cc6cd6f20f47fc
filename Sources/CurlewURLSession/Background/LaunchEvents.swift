// SPDX-License-Identifier: MIT

import Foundation

/// When to call the handler by which an app tells the system that it has dealt with the events of a background session.
///
/// The system wakes the app, tells the session its events, and says when that was all. The app hands the handler over
/// before or after that, because a session that is made early in a launch gets its events at once. A handler that is
/// called too early lets the app be suspended with events untold; one that is never called costs the app its background
/// time.
struct LaunchEvents<Handler> {
    /// For how long "that was all" holds for a handler that comes later: 30 s, as long as the system lets a launch take.
    static var patience: Double { 30 }

    private var waiting: [Handler] = []
    private var told: Date?

    /// The app hands over a handler; those to call now come back.
    mutating func ask(_ handler: Handler, at date: Date) -> [Handler] {
        if let told, abs(date.timeIntervalSince(told)) < Self.patience {
            self.told = nil
            return [handler]
        }
        told = nil
        waiting.append(handler)
        return []
    }

    /// The session has told all its events; the handlers to call now come back.
    mutating func tell(at date: Date) -> [Handler] {
        defer { waiting = [] }
        told = waiting.isEmpty ? date : nil
        return waiting
    }

    /// An event, or a new transfer: what was told before does not count for what comes.
    mutating func goOn() {
        told = nil
    }
}
