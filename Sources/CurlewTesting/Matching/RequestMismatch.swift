// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// A report about a request for which a test double has no response: the request, the nearest stub, route or recorded
/// entry, and the first difference from it.
///
/// The report is the `underlying` error of the `NetworkError` that a ``MockTransport`` or a ``Cassette`` throws, and is
/// part of its description. ``MockServer/unmatchedRequests`` contains the reports of a server.
///
///     No stub matches GET https://mock.test/users/1/order.
///     The nearest of 12 stubs is GET /users/:id/orders: path segment 3 is "order", not "orders"
///
/// Secrets are redacted.
public struct RequestMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence that names the request.
    public let summary: String
    /// The stub, route or entry with the fewest differences, such as `GET /users/:id`; nil if there is none.
    public let nearest: String?
    /// The first difference between the request and ``nearest``, at most 300 bytes; nil if there is none.
    public let difference: String?
    /// The number of all stubs, routes or entries.
    public let count: Int
    /// The kind of the candidates.
    let noun: Noun

    enum Noun: String, Hashable, Sendable {
        case stub, route, entry

        var plural: String { self == .entry ? "entries" : rawValue + "s" }
    }

    /// A stub, route or entry, with what differs from the request.
    struct Candidate {
        let name: String
        let differences: [String]
        /// The number of bytes with which both paths begin.
        var commonPrefix = 0

        /// Whether it has fewer differences than another candidate; if equally many, whether its path begins more like
        /// that of the request.
        func isNearer(than other: Candidate) -> Bool {
            (differences.count, other.commonPrefix) < (other.differences.count, commonPrefix)
        }

        static func commonPrefix(_ left: String, _ right: String) -> Int {
            zip(left.utf8, right.utf8).prefix { $0 == $1 }.count
        }
    }

    /// Creates a report with the nearest candidate; of equal ones, the first.
    init(_ summary: String, among candidates: [Candidate], noun: Noun, count: Int? = nil) {
        let best = candidates.min { $0.isNearer(than: $1) }
        self.summary = summary
        self.noun = noun
        self.count = count ?? candidates.count
        nearest = best?.name.clipped(to: 300).printable
        difference = best?.differences.first?.clipped(to: 300).printable
    }

    /// The report in two lines.
    public var description: String {
        guard let nearest else { return "\(summary)\nThere are no \(noun.plural)." }
        let which = count == 1 ? "The only \(noun.rawValue)" : "The nearest of \(count) \(noun.plural)"
        return "\(summary)\n\(which) is \(nearest)" + (difference.map { ": \($0)" } ?? "")
    }
}

extension RequestMismatch: LineReport {}

extension RoutePattern {
    func candidate(for method: HTTPMethod, _ target: String) -> RequestMismatch.Candidate {
        RequestMismatch.Candidate(
            name: description, differences: differences(from: method, target),
            commonPrefix: RequestMismatch.Candidate.commonPrefix(path, target))
    }

    /// Returns what differs between a request and the pattern: segments of the path, and then the method. Empty if the
    /// pattern matches.
    func differences(from method: HTTPMethod, _ target: String) -> [String] {
        var found: [String] = []
        let sent = Self.split(target.prefix { $0 != "?" && $0 != "#" }).map { PercentCoding.decode($0) ?? $0 }
        for index in 0..<max(sent.count, segments.count) {
            let mine = index < sent.count ? sent[index] : nil
            let theirs = index < segments.count ? segments[index] : nil
            if case .remainder? = theirs, mine != nil { break }
            func quoted(_ text: String) -> String { "\"\(text.clipped(to: 100))\"" }
            switch (mine, theirs) {
            case (let mine?, let theirs?) where theirs.matches(mine): break
            case (let mine?, let theirs?):
                found.append("path segment \(index + 1) is \(quoted(mine)), not \(quoted(theirs.shown))")
            case (let mine?, nil): found.append("path segment \(index + 1), \(quoted(mine)), is one too many")
            case (nil, let theirs?): found.append("path segment \(index + 1), \(quoted(theirs.shown)), is missing")
            case (nil, nil): break
            }
        }
        if let wanted = self.method, wanted != method { found.append("the method is \(method), not \(wanted)") }
        return found
    }
}
