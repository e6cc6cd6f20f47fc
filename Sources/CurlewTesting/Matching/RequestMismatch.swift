// SPDX-License-Identifier: MIT

import CurlewCore

/// A report about a request for which a test double has no response: the request, and what differs from the nearest
/// stubs, routes or recorded entries.
///
/// The report is the `underlying` error of the `NetworkError` that a ``MockTransport`` or a ``Cassette`` throws, and is
/// part of its description. ``MockServer/unmatchedRequests`` contains the reports of a server.
///
///     No stub matches GET https://mock.test/users/1/order. The nearest of 12 stubs:
///     1. GET /users/:id/orders
///        path segment 3: the request has "order", the stub has "orders"
///
/// Secrets are redacted.
public struct RequestMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stub, route or entry that resembles the request.
    public struct Candidate: Hashable, Sendable {
        /// The name of the candidate, such as `GET /users/:id`.
        public let name: String
        /// What differs from the request, the most important first. At most 12 lines, each at most 300 bytes.
        public let differences: [String]
    }

    /// One sentence that names the request.
    public let summary: String
    /// The nearest candidates, at most three, the nearest first.
    public let nearest: [Candidate]
    /// The number of all candidates.
    public let count: Int
    /// The noun for candidates: `stub`, `route` or `entry`.
    let noun: Noun

    enum Noun: String, Hashable, Sendable {
        case stub, route, entry

        var plural: String { self == .entry ? "entries" : rawValue + "s" }
    }

    static let most = 3

    /// Creates a report with the candidates whose differences weigh least; of equal ones, those that come first.
    init(
        _ summary: String, among candidates: [(name: String, differences: [Difference])], noun: Noun, count: Int? = nil
    ) {
        self.summary = summary
        self.noun = noun
        self.count = count ?? candidates.count
        let weights = candidates.enumerated().map { ($0.offset, $0.element.differences.reduce(0) { $0 + $1.weight }) }
        let order = weights.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(Self.most)
        nearest = order.map { index, _ in
            Candidate(
                name: candidates[index].name.clipped(to: 300).printable,
                differences: Difference.lines(of: candidates[index].differences))
        }
    }

    /// The lines of the report.
    public var description: String {
        guard !nearest.isEmpty else { return "\(summary) There are no \(noun.plural)." }
        let heading =
            count > nearest.count
            ? "The nearest of \(count) \(noun.plural):"
            : count == 1 ? "The only \(noun.rawValue):" : "The \(noun.plural):"
        var lines = ["\(summary) \(heading)"]
        for (index, candidate) in nearest.enumerated() {
            lines.append("\(index + 1). \(candidate.name)")
            lines += candidate.differences.map { "   \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}

extension RequestMismatch: LineReport {}

/// One difference between a request and a candidate.
struct Difference: Hashable, Sendable {
    let text: String
    /// The importance of the difference: the candidates with the least sum are the nearest.
    let weight: Int

    init(_ text: String, weight: Int = 2) {
        self.text = text
        self.weight = weight
    }

    static let mostLines = 12

    static func lines(of differences: [Difference]) -> [String] {
        let shown = differences.prefix(differences.count > mostLines ? mostLines - 1 : mostLines)
            .map { $0.text.clipped(to: 300).printable }
        let rest = differences.count - shown.count
        return rest > 0 ? shown + ["and \(rest) more differences"] : shown
    }

    /// Returns text in quotes for a message, shortened to `limit` bytes.
    static func quoted(_ text: some StringProtocol, limit: Int = 100) -> String {
        "\"\(String(text).clipped(to: limit))\""
    }
}
