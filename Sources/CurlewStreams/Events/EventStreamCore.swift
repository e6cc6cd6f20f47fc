// SPDX-License-Identifier: MIT

import CurlewCore

/// What the copies of a stream and its iterator share.
final class EventStreamCore: Sendable {
    let opening: EventOpening
    let control = ReconnectionControl(EventStream.State.idle)
    private let lastID: Locked<String>

    init(_ opening: EventOpening) {
        self.opening = opening
        lastID = Locked(opening.options.lastEventID)
    }

    var lastEventID: String {
        get { lastID.withLock { $0 } }
        set { lastID.withLock { $0 = newValue } }
    }
}
