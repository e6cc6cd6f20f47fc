// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

/// Compares two HAR documents.
enum HARDifference {
    /// Returns a line for each difference; empty if both have the same exchanges. Times are not compared.
    static func lines(_ old: HARDocument, _ new: HARDocument) -> [String] {
        var rest: [String: [HARDocument.Entry]] = [:]
        for entry in new.entries { rest[key(entry), default: []].append(entry) }
        var lines: [String] = []
        for entry in old.entries {
            let key = key(entry)
            guard let other = rest[key]?.first else {
                lines.append("- \(key)")
                continue
            }
            rest[key]?.removeFirst()
            let changes = changes(entry, other)
            if !changes.isEmpty { lines.append("~ \(key)") }
            lines += changes.map { "    \($0)" }
        }
        for entry in new.entries {
            let key = key(entry)
            guard rest[key]?.isEmpty == false else { continue }
            rest[key]?.removeFirst()
            lines.append("+ \(key)")
        }
        return lines
    }

    private static func key(_ entry: HARDocument.Entry) -> String {
        "\(entry.request.method) \(Redaction.standard.unusable(url: entry.request.url))"
    }

    private static func changes(_ old: HARDocument.Entry, _ new: HARDocument.Entry) -> [String] {
        var lines: [String] = []
        if old.response.status != new.response.status {
            lines.append("status: \(old.response.status) → \(new.response.status)")
        }
        lines += fields(old.request.headers, new.request.headers, "request field")
        lines += fields(old.response.headers, new.response.headers, "response field")
        if old.request.postData?.text != new.request.postData?.text { lines.append("the request body differs") }
        if old.response.content.text != new.response.content.text {
            lines.append(
                "the response body differs (\(old.response.content.size) → \(new.response.content.size) bytes)")
        }
        return lines
    }

    /// The fields that differ in every exchange.
    private static let volatile: Set<String> = ["date", "age", "x-request-id", "traceparent", "expires", "cf-ray"]

    private static func fields(
        _ old: [HARDocument.NameValue], _ new: [HARDocument.NameValue], _ what: String
    ) -> [String] {
        func table(_ fields: [HARDocument.NameValue]) -> [String: String] {
            var table: [String: String] = [:]
            for field in fields where !volatile.contains(field.name.lowercased()) {
                let name = field.name.lowercased()
                let value = Redaction.standard.value(field.value, ofHeader: HTTPField.Name(field.name))
                table[name] = table[name].map { $0 + ", " + value } ?? value
            }
            return table
        }
        let (old, new) = (table(old), table(new))
        return Set(old.keys).union(new.keys).sorted().compactMap { name in
            old[name] == new[name] ? nil : "\(what) \(name): \(old[name] ?? "(none)") → \(new[name] ?? "(none)")"
        }
    }
}
