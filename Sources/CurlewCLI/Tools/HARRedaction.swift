// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewObservability

/// Removes secrets from a HAR document that another program recorded.
enum HARRedaction {
    private static let redaction = Redaction.standard

    static func redacted(_ document: HARDocument) -> HARDocument {
        var document = document
        document.entries = document.entries.map(redacted)
        return document
    }

    private static func redacted(_ entry: HARDocument.Entry) -> HARDocument.Entry {
        var entry = entry
        entry.request.url = redaction.url(entry.request.url)
        entry.request.headers = entry.request.headers.map(field)
        entry.request.cookies = entry.request.cookies.map(cookie)
        entry.request.queryString = entry.request.queryString.map(member)
        if var post = entry.request.postData {
            post.params = post.params?.map { param in
                var param = param
                if redaction.isSecret(member: param.name) { param.value = Redaction.mark }
                return param
            }
            (post.text, post.comment) = body(post.text, post.encoding, post.mimeType, post.comment)
            if post.text == nil { post.encoding = nil }
            entry.request.postData = post
        }
        entry.response.headers = entry.response.headers.map(field)
        entry.response.cookies = entry.response.cookies.map(cookie)
        entry.response.redirectURL = redaction.url(entry.response.redirectURL)
        var content = entry.response.content
        (content.text, content.comment) = body(content.text, content.encoding, content.mimeType, content.comment)
        if content.text == nil { content.encoding = nil }
        entry.response.content = content
        return entry
    }

    private static func field(_ field: HARDocument.NameValue) -> HARDocument.NameValue {
        var field = field
        field.value = redaction.value(field.value, ofHeader: HTTPField.Name(field.name))
        return field
    }

    private static func member(_ item: HARDocument.NameValue) -> HARDocument.NameValue {
        var item = item
        // The rules for URLs know more names than those for members.
        let pair = redaction.pairs(Substring(PercentCoding.encode(item.name, for: .queryName) + "=x"))
        if redaction.isSecret(member: item.name) || !pair.ends(with: "=x") { item.value = Redaction.mark }
        return item
    }

    private static func cookie(_ cookie: HARDocument.Cookie) -> HARDocument.Cookie {
        var cookie = cookie
        cookie.value = Redaction.mark
        return cookie
    }

    /// Returns a body without secrets. A body in which they cannot be recognized is omitted.
    private static func body(
        _ text: String?, _ encoding: String?, _ type: String, _ comment: String?
    ) -> (String?, String?) {
        guard let text, !text.isEmpty else { return (text, comment) }
        let mediaType = MediaType(type)
        let isKnown =
            encoding == nil
            && (mediaType.map { $0.isJSON || $0.essence == MediaType.form.essence || $0.type == "text" } ?? false)
        guard isKnown else { return (nil, "The body is omitted, because its secrets cannot be recognized.") }
        return (redaction.bodyText(text, mediaType: mediaType), comment)
    }
}

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
        "\(entry.request.method) \(Redaction.standard.url(entry.request.url))"
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
