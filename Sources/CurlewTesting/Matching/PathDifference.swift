// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The differences between the path of a request and the path of a stub or an entry, segment by segment.
struct PathDifference {
    let noun: RequestMismatch.Noun

    /// The maximum number of segments that are compared.
    private static let most = 64

    /// Returns the differences; empty if the paths match.
    ///
    /// - `sent`: the segments of the request, decoded.
    /// - `wanted`: the segments of the candidate. Nil for one that matches any text, with the text to show.
    func differences(sent: [String], wanted: [Segment]) -> [Difference] {
        if let whole = wholeDifference(sent, wanted) { return [whole] }
        let (sent, wanted) = (Array(sent.prefix(Self.most)), Array(wanted.prefix(Self.most)))
        return align(sent, wanted).compactMap { step in
            switch step {
            case .pair(let index, let segment, let text):
                return pairDifference(index, segment, text)
            case .extra(let index, let text) where text.isEmpty && index == sent.count - 1:
                return Difference(
                    "the path of the request ends with \"/\", that of the \(noun.rawValue) does not", weight: 1)
            case .extra(let index, let text):
                return Difference(
                    "path segment \(index + 1), \(Difference.quoted(text)), is not in the \(noun.rawValue)", weight: 3)
            case .missing(let segment) where segment.shown.isEmpty:
                return Difference(
                    "the path of the \(noun.rawValue) ends with \"/\", that of the request does not", weight: 1)
            case .missing(let segment):
                return Difference(
                    "the \(noun.rawValue) has the segment \(Difference.quoted(segment.shown)), which the request lacks",
                    weight: 3)
            }
        }
    }

    /// A segment of a candidate's path.
    struct Segment: Hashable {
        let shown: String
        /// Whether the segment matches any text that is not empty.
        var isParameter = false
        /// Whether the segment matches the rest of the path.
        var isRest = false

        func matches(_ text: String) -> Bool { isParameter || isRest ? !text.isEmpty : shown == text }
    }

    /// Returns the difference between paths of which one has only a prefix more, such as the path of a base URL.
    private func wholeDifference(_ sent: [String], _ wanted: [Segment]) -> Difference? {
        let extra = sent.count - wanted.count
        guard extra > 0, !wanted.isEmpty, !wanted.contains(where: \.isRest), sent.last?.isEmpty == false,
            zip(sent.dropFirst(extra), wanted).allSatisfy({ $1.matches($0) })
        else { return nil }
        let prefix = "/" + sent.prefix(extra).joined(separator: "/")
        let advice = noun == .entry ? "" : ", probably from the base URL: add it to the \(noun.rawValue)"
        return Difference("the path of the request begins with \(Difference.quoted(prefix))\(advice)", weight: 2)
    }

    private func pairDifference(_ index: Int, _ segment: Segment, _ text: String) -> Difference? {
        guard !segment.matches(text) else { return nil }
        if text.isEmpty {
            return Difference(
                "path segment \(index + 1) is empty, the \(noun.rawValue) has \(Difference.quoted(segment.shown))")
        }
        let isCase = TextDistance.between(text, segment.shown) == 0
        let close = TextDistance.areSimilar(text, segment.shown)
        return Difference(
            "path segment \(index + 1): the request has \(Difference.quoted(text)), the \(noun.rawValue) has "
                + Difference.quoted(segment.shown) + (isCase ? " (the case differs)" : ""),
            weight: isCase ? 1 : close ? 2 : 4)
    }

    private enum Step {
        case pair(Int, Segment, String)
        case extra(Int, String)
        case missing(Segment)
    }

    /// Returns the cheapest alignment of the segments: equal ones are free, similar ones are cheap.
    private func align(_ sent: [String], _ wanted: [Segment]) -> [Step] {
        var wanted = wanted
        var rest: Segment?
        if wanted.last?.isRest == true { rest = wanted.removeLast() }
        // With a segment for the rest, what follows the other segments is free.
        let columns = wanted.count
        var cost = (0...sent.count).map { row in (0...columns).map { (row + $0) * 3 } }
        for row in stride(from: 1, through: sent.count, by: 1) {
            for column in stride(from: 1, through: columns, by: 1) {
                let pair = cost[row - 1][column - 1] + price(sent[row - 1], wanted[column - 1])
                cost[row][column] = min(pair, cost[row - 1][column] + 3, cost[row][column - 1] + 3)
            }
        }
        var row = sent.count
        if rest != nil, sent.count > columns {
            let rows = columns..<sent.count
            let cheapest = rows.map { cost[$0][columns] }.min() ?? 0
            row = rows.last { cost[$0][columns] == cheapest } ?? columns
        }
        var steps: [Step] = rest.map { sent.count > row ? [] : [.missing($0)] } ?? []
        var column = columns
        while row > 0 || column > 0 {
            // Of equally cheap alignments, the one whose first segments form pairs.
            if row > 0, column == 0 || cost[row][column] == cost[row - 1][column] + 3 {
                steps.append(.extra(row - 1, sent[row - 1]))
                row -= 1
            } else if row > 0, column > 0,
                cost[row][column] == cost[row - 1][column - 1] + price(sent[row - 1], wanted[column - 1])
            {
                steps.append(.pair(row - 1, wanted[column - 1], sent[row - 1]))
                (row, column) = (row - 1, column - 1)
            } else {
                steps.append(.missing(wanted[column - 1]))
                column -= 1
            }
        }
        return steps.reversed()
    }

    private func price(_ text: String, _ segment: Segment) -> Int {
        if segment.matches(text) { return 0 }
        return TextDistance.areSimilar(text, segment.shown) ? 2 : 5
    }
}
