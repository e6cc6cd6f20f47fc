// SPDX-License-Identifier: MIT

import CurlewCookies

/// Records each refused cookie as its name and the reason.
final class RefusedCookies: RequestObserver {
    private let events = Locked<[String]>([])

    var refused: [String] { events.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .feature(CookieStore.Event.refused(let refusal, let name)) = event else { return }
        events.withLock { $0.append("\(name) \(refusal)") }
    }
}
