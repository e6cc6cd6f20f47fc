// SPDX-License-Identifier: MIT

import Curlew

/// A change in the team, as clients see it.
struct Notice: Encodable, Sendable {
    let id: Int
    let text: String
    let isRead: Bool
}

/// The latest 100 notices, oldest first.
final class NoticeBoard: Sendable {
    private struct State {
        var notices: [Notice] = []
        /// The start page has the numbers up to here.
        var lastID = 3
        var hasCut = false
    }

    private let state = Locked(State())

    func post(_ text: String) {
        state.withLock { state in
            state.lastID += 1
            state.notices.append(Notice(id: state.lastID, text: text, isRead: false))
            if state.notices.count > 100 { state.notices.removeFirst() }
        }
    }

    /// Returns the notices with a number above `id`.
    func notices(after id: Int) -> [Notice] {
        state.withLock { state in state.notices.filter { $0.id > id } }
    }

    /// Returns true the first time.
    func takeCut() -> Bool {
        state.withLock { state in
            defer { state.hasCut = true }
            return !state.hasCut
        }
    }
}
