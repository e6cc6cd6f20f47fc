// SPDX-License-Identifier: MIT

import Curlew

/// What each call cost, as lines of a table: one for each try, if there were several. An observer hears of every call of
/// its client, and other clients do not pay for it.
package struct CallTable: RequestObserver {
    private let lines: AsyncStream<Line>
    private let writer: AsyncStream<Line>.Continuation

    /// A table that keeps the last thousand lines.
    package init() {
        (lines, writer) = AsyncStream.makeStream(of: Line.self, bufferingPolicy: .bufferingNewest(1000))
    }

    /// Called on whatever thread the call has come to; handing a value over is all that happens here.
    package func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .answered(let response):
            writer.yield(Line(context.routeName, "\(response.status.code)", response.metrics))
        case .attemptFailed(let error):
            writer.yield(Line(context.routeName, "\(error.reason)", ExchangeMetrics()))
        default: break
        }
    }

    /// Ends the table and gives it as text, a line for each try in the order in which they ended.
    package func finish() async -> [String] {
        writer.finish()
        let heading = ["call", "status", "lookup", "connect", "first byte", "total", "connection"]
        var rows = [heading]
        for await line in lines { rows.append(line.cells) }
        let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { cells in
            zip(cells, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                // Words stand left, numbers right.
                return column == 0 || column == heading.count - 1 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ").trimmedEnd
        }
    }

    struct Line: Sendable {
        let cells: [String]

        init(_ name: String, _ status: String, _ metrics: ExchangeMetrics) {
            let reuse = metrics.reusedConnection.map { $0 ? "reused" : "new" }
            let times = [metrics.nameLookup, metrics.connect, metrics.firstByte, metrics.total]
            cells = [name, status] + times.map { $0?.milliseconds ?? "-" } + [reuse ?? "-"]
        }
    }
}

extension Duration {
    /// `12.3 ms`, which needs no tables of languages.
    package var milliseconds: String {
        let tenths = Int((self / .microseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
