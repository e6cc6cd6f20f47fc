// SPDX-License-Identifier: MIT

import Curlew

/// Remembers the requests that were sent and what was measured, for `--print` and `--timing`.
final class ExchangeLog: RequestObserver {
    /// One request on the wire.
    struct Entry: Sendable {
        let number: Int
        let request: HTTPRequest
        var status: Int?
        var failure: String?
        var metrics: ExchangeMetrics?
    }

    /// The maximum number of requests that are kept; later ones are not.
    private static let limit = 1000

    private let entries = Locked<[Entry]>([])

    /// The requests whose events were delivered: all of them when the call has ended.
    var all: [Entry] { entries.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard let number = context.requestNumber else { return }
        entries.withLock { entries in
            if case .sent(let request) = event, entries.count < Self.limit {
                entries.append(Entry(number: number, request: request))
            }
            guard let index = entries.lastIndex(where: { $0.number == number }) else { return }
            switch event {
            case .answered(let response): entries[index].status = response.status.code
            case .attemptFailed(let error): entries[index].failure = error.label
            case .measured(let metrics): entries[index].metrics = metrics
            default: break
            }
        }
    }
}
