// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The `curlew` command that sends the request of a curl command, as words.
struct CurlItems {
    let reader: CurlReader
    let redaction: Redaction

    var words: [String] {
        get throws {
            let body = try body
            return ["curlew"] + options + body.options + [reader.plan.method.rawValue, redaction.url(reader.plan.url)]
                + fields(implied: body.type) + body.items
        }
    }

    private var options: [String] {
        var previous = ""
        return reader.options.map { word in
            defer { previous = word }
            switch previous {
            case "--auth": return redaction.hidesNothing ? word : Redaction.mark
            case "--proxy": return redaction.unusable(url: word)
            default: return word
            }
        }
    }

    private func fields(implied type: String?) -> [String] {
        let plan = reader.plan
        var items = plan.headers.map { field in
            let value = redaction.value(field.value, ofHeader: field.name)
            return value.isEmpty ? "\(field.name.text);" : RequestItem.written(field.name.text, ":", value)
        }
        if let type, !plan.headers.contains(.contentType), !plan.removed.contains(.contentType) {
            items.append("Content-Type:\(type)")
        }
        return items + plan.removed.map { "\($0.text):" }
    }

    /// The options and items of the body, and its media type.
    private var body: (options: [String], items: [String], type: String?) {
        get throws {
            let type = reader.plan.content.contentType
            if let path = reader.bodyFile { return ([], [RequestItem.written("", "@", path)], type) }
            if let data = reader.bodyData {
                let text = String(decoding: data, as: UTF8.self)
                guard text.utf8.elementsEqual(data), !data.contains(0) else {
                    throw UsageError(
                        "The body is not text, so it cannot be an argument.",
                        "Write it into a file, and use --data-binary @file in the curl command.")
                }
                let field = reader.plan.headers[.contentType] ?? type
                let mediaType = field.flatMap { MediaType($0) }
                let shown = redaction.shownBody(data, mediaType: mediaType, limit: data.count, clips: false)
                return (["--raw", redaction.hidesNothing ? text : shown ?? Redaction.mark], [], type)
            }
            guard !reader.forms.isEmpty else { return ([], [], nil) }
            let items = try reader.forms.map { form in
                guard let item = form.item else {
                    throw UsageError("The part \"\(form.name)\" of the form has no equivalent item.")
                }
                let isSecret = redaction.isSecret(member: form.name)
                return isSecret ? RequestItem.written(form.name, "=", Redaction.mark) : item
            }
            return (["--multipart"], items, nil)
        }
    }
}
