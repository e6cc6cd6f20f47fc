// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewJSON

/// The data of a page as JSON. Texts repeat, so entries refer to a table of texts by number.
struct ReportData {
    /// JSON in which no `<` occurs, so that nothing in it can end the element that contains it.
    let text: String

    init(_ document: HARDocument, room: Int) {
        var writer = Writer()
        // The texts of the document as a whole must leave room for its entries.
        let textLimit = max(100, min(room / 20, 10_000))
        let comment = document.log.comment?.clipped(to: textLimit)
        let creator = "\(document.log.creator.name) \(document.log.creator.version)".clipped(to: textLimit)
        writer.size = Writer.size(of: comment ?? "") + Writer.size(of: creator)
        var entries: [JSONValue] = []
        var omittedEntries = 0
        // The newest entries and bodies are kept, so both are added from the end.
        for entry in document.entries.reversed() {
            let (size, count) = (writer.size, writer.texts.count)
            let value = writer.value(of: entry)
            writer.size += (value.encoded()?.count ?? 0) + Self.bodySize
            if writer.size > room {
                writer.truncate(to: count)
                writer.size = size
                omittedEntries = document.entries.count - entries.count
                break
            }
            entries.append(value)
        }
        var omittedBodies = 0
        let bodies = document.entries.suffix(entries.count).reversed().map { entry -> JSONValue in
            let (value, omitted) = writer.bodies(of: entry, room: room)
            omittedBodies += omitted
            return value
        }
        var notes: [String] = []
        if let comment { notes.append(comment) }
        if omittedEntries > 0 {
            notes.append("The page omits the oldest \(omittedEntries) exchanges to limit its size.")
        }
        if omittedBodies > 0 { notes.append("The page omits \(omittedBodies) bodies to limit its size.") }
        let root: JSONValue = [
            "creator": .string(creator),
            "notes": .array(notes.map { .string($0) }),
            "entries": .array(entries.reversed()),
            "bodies": .array(bodies.reversed()),
            "texts": .array(writer.texts.map { .string($0) }),
        ]
        text = Self.escaped(root.encoded() ?? Data("null".utf8))
    }

    /// The size of the part of an entry that refers to its bodies, at most.
    private static let bodySize = 80

    /// Returns the JSON with `<` escaped. In JSON, `<` occurs only in strings.
    private static func escaped(_ data: Data) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + data.count / 64)
        for byte in data {
            if byte == UInt8(ascii: "<") { bytes.append(contentsOf: #"\u003c"#.utf8) } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private struct Writer {
        var texts: [String] = []
        /// The numbers of the texts by their bytes: texts that are canonically equivalent are different.
        private var numbers: [[UInt8]: Int] = [:]
        /// The size of what has been written, as JSON.
        var size = 0

        /// Forgets all but the first `count` texts.
        mutating func truncate(to count: Int) {
            for text in texts[count...] { numbers[Array(text.utf8)] = nil }
            texts.removeLast(texts.count - count)
        }

        mutating func number(of text: String?) -> JSONValue {
            guard let text, !text.isEmpty else { return .integer(-1) }
            let key = Array(text.utf8)
            if let number = numbers[key] { return .integer(Int64(number)) }
            numbers[key] = texts.count
            texts.append(text)
            size += Self.size(of: text)
            return .integer(Int64(texts.count - 1))
        }

        static func size(of text: String) -> Int {
            text.utf8.reduce(3) { size, byte in
                switch byte {
                case 0..<0x20, UInt8(ascii: "<"): size + 6
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): size + 2
                default: size + 1
                }
            }
        }

        private mutating func fields(_ fields: [HARDocument.NameValue]?) -> JSONValue {
            .array((fields ?? []).flatMap { [number(of: $0.name), number(of: $0.value)] })
        }

        mutating func value(of entry: HARDocument.Entry) -> JSONValue {
            let (request, response, timings, facts) = (entry.request, entry.response, entry.timings, entry.facts)
            let start = (entry.startedDateTime.timeIntervalSince1970 * 1000).rounded()
            var values: [JSONValue] = [
                .number(start), number(of: request.method), number(of: request.url),
                .integer(Int64(response.status)), number(of: response.statusText), number(of: request.httpVersion),
            ]
            values.append(
                .array(
                    [
                        timings.blocked, timings.dns, timings.connect, timings.ssl, timings.send, timings.wait,
                        timings.receive,
                    ].map { Self.time($0) }))
            values.append(Self.time(entry.time))
            values.append(fields(request.headers))
            values.append(fields(response.headers))
            values.append(
                .array(
                    [request.bodySize, response.content.size, response.bodySize, response.transferSize ?? -1]
                        .map { .integer($0) }))
            values.append(number(of: response.error))
            values.append(.array([number(of: entry.serverIPAddress), number(of: entry.connection)]))
            values.append(number(of: entry.comment))
            if let facts { values.append(value(of: facts)) }
            return .array(values)
        }

        private mutating func value(of facts: HARDocument.Facts) -> JSONValue {
            .array([
                .unsigned(facts.call), number(of: facts.route), .integer(Int64(facts.attempt)),
                .integer(Int64(facts.hop)), .integer(Int64(facts.request)), Self.time(facts.start),
                Self.time(facts.total), Self.time(facts.callTime), number(of: facts.outcome),
                facts.failed.map { .bool($0) } ?? .null, .integer(facts.bytesSent ?? -1),
                .integer(facts.bytesReceived ?? -1), facts.reused.map { .bool($0) } ?? .null,
                number(of: facts.localAddress), number(of: facts.tls),
                .array(
                    (facts.decisions ?? []).map {
                        .array([Self.time($0.time), number(of: $0.name), number(of: $0.text)])
                    }),
                .array(
                    (facts.interim ?? []).map {
                        .array([Self.time($0.time), .integer(Int64($0.status)), fields($0.headers)])
                    }),
                fields(facts.trailers),
            ])
        }

        /// Returns the bodies of the entry, and the number of those for which there is no room.
        mutating func bodies(of entry: HARDocument.Entry, room: Int) -> (JSONValue, omitted: Int) {
            let (post, content) = (entry.request.postData, entry.response.content)
            var omitted = 0
            func body(
                _ text: String?, _ type: String?, _ encoding: String?, _ comment: String?, in writer: inout Writer
            ) -> JSONValue {
                guard text != nil || comment != nil else { return .null }
                var (text, comment) = (text, comment)
                if let known = text, writer.size + Self.size(of: known) > room {
                    text = nil
                    comment = "The page omits the body to limit its size."
                    omitted += 1
                }
                return .array([
                    writer.number(of: text), writer.number(of: type), .bool(encoding == "base64"),
                    writer.number(of: comment),
                ])
            }
            let value = JSONValue.array([
                body(post?.text, post?.mimeType, post?.encoding, post?.comment, in: &self),
                body(content.text, content.mimeType, content.encoding, content.comment, in: &self),
            ])
            return (value, omitted)
        }

        /// Returns a time in milliseconds with at most three decimals; -1 if it is unknown.
        private static func time(_ value: Double?) -> JSONValue {
            guard let value, value >= 0, value.isFinite, value < 1e12 else { return .integer(-1) }
            return .number((value * 1000).rounded() / 1000)
        }
    }
}

/// One HTML page that shows the exchanges of a HAR document: as a waterfall of calls, attempts and redirects, with the
/// reason for each decision, filters, and details.
///
///     let page = HTMLReport(try HARDocument(data)).text
///
/// - The page is one file. It loads nothing, and its content security policy forbids the browser to connect anywhere.
/// - Text of the document is data. It cannot run as a script or change the page, whatever it contains.
/// - The page can be used with the keyboard: arrow keys, Enter, Escape, and `/` to search. Its colours follow the dark
///   or light scheme of the system.
/// - The secrets of the document are in the page. The recorder redacts them when it records. For a document of another
///   program, use `HARDocument.redacted(_:opaqueBodies:)` first.
public struct HTMLReport: Sendable {
    /// The HTML text, which declares its encoding as UTF-8.
    public let text: String

    /// Creates the page.
    ///
    /// - `title`: the title of the page.
    /// - `limit`: the maximum size of the page in bytes. If the document is larger, the page omits the oldest bodies,
    ///   and then the oldest entries, and states this. A page has at least 33 KB. Default 5 MB.
    public init(_ document: HARDocument, title: String = "HTTP exchanges", limit: Int = 5_000_000) {
        let room = max(0, limit - Self.frameSize - title.utf8.count * 6)
        let data = ReportData(document, room: room)
        text = Self.page(title: title, data: data.text)
    }

    private static let frameSize = page(title: "", data: "").utf8.count + 1024

    private static func page(title: String, data: String) -> String {
        ReportPage.start + escaped(title) + ReportPage.middle + data + ReportPage.end
    }

    /// Returns the text with the special characters of HTML escaped.
    private static func escaped(_ text: String) -> String {
        text.printable.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
