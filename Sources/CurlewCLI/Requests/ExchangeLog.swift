// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Remembers the requests that were sent and what was measured, for `--print` and `--timing`.
final class ExchangeLog: ImmediateObserver {
    /// One request on the wire.
    struct Entry: Sendable {
        let number: Int
        let request: HTTPRequest
        var status: Int?
        var failure: String?
        var metrics: ExchangeMetrics?
    }

    /// The most requests that are kept; later ones are not.
    private static let limit = 1000

    private let entries = Locked<[Entry]>([])

    var all: [Entry] { entries.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard let number = context.requestNumber else { return }
        switch event {
        case .sent(let request):
            entries.withLock { entries in
                if entries.count < Self.limit { entries.append(Entry(number: number, request: request)) }
            }
        case .answered(let response): change(number) { $0.status = response.status.code }
        case .attemptFailed(let error): change(number) { $0.failure = error.label }
        case .measured(let metrics): change(number) { $0.metrics = metrics }
        default: break
        }
    }

    private func change(_ number: Int, _ body: @Sendable (inout Entry) -> Void) {
        entries.withLock { entries in
            guard let index = entries.lastIndex(where: { $0.number == number }) else { return }
            body(&entries[index])
        }
    }
}
