// SPDX-License-Identifier: MIT

import CurlewCore

/// The differences between two JSON values, path by path: `$.user.name: the request has "Grace", the entry has "Ada"`.
struct JSONDifference {
    private(set) var found: [Difference] = []

    /// The maximum number of differences that are reported.
    private static let most = 40
    /// The maximum depth at which values are compared member by member.
    private static let deepest = 64

    /// Returns the differences, at most 40; empty if the values are equal.
    static func between(sent: JSONValue, recorded: JSONValue) -> [Difference] {
        var difference = JSONDifference()
        difference.compare(sent, recorded, path: "$", depth: 0)
        return difference.found
    }

    private mutating func compare(_ sent: JSONValue?, _ recorded: JSONValue?, path: String, depth: Int) {
        guard sent != recorded, found.count < Self.most else { return }
        switch (sent, recorded) {
        case (.object(let mine), .object(let theirs)) where depth < Self.deepest:
            for name in Set(mine.keys).union(theirs.keys).sorted() {
                compare(mine[name], theirs[name], path: path + Self.step(name), depth: depth + 1)
            }
        case (.array(let mine), .array(let theirs)) where depth < Self.deepest:
            for index in 0..<max(mine.count, theirs.count) where found.count < Self.most {
                // A literal nil would be the value `null`.
                compare(
                    index < mine.count ? mine[index] : .none, index < theirs.count ? theirs[index] : .none,
                    path: "\(path)[\(index)]", depth: depth + 1)
            }
        default:
            found.append(
                Difference(
                    "body \(path): the request has \(Self.text(sent)), the entry has \(Self.text(recorded))", weight: 1)
            )
        }
    }

    /// Returns the step to a member: `.name`, or `["any text"]` if the name is not an identifier.
    private static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x5F }
        return isPlain ? ".\(name)" : "[\(Difference.quoted(name, limit: 60))]"
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil: "no such value"
        case .null?: "null"
        case .bool(let value)?: "\(value)"
        case .integer(let value)?: "\(value)"
        case .unsigned(let value)?: "\(value)"
        case .number(let value)?: "\(value)"
        case .string(let value)?: Difference.quoted(value)
        case .array(let value)?: "an array of \(value.count) elements"
        case .object(let value)?: "an object of \(value.count) members"
        }
    }
}
