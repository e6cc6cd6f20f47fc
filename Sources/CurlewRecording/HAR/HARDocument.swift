// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
import CurlewJSON

/// A recording of HTTP exchanges in the HTTP Archive format, HAR 1.2.
///
///     let document = try HARDocument(Data(contentsOf: file))
///     for entry in document.entries { print(entry.request.method, entry.request.url, entry.response.status) }
///
/// Browsers, proxies and test tools read and write this format. The values mirror its JSON objects. Facts for which the
/// format has no field are in fields whose names begin with an underscore, as the format requires.
///
/// Reading is tolerant: unknown fields are skipped, and a field that is missing although the format requires it gets a
/// neutral value (an empty list, or `-1` for a size) if there is one. Writing a document that another program made
/// therefore drops the fields that only that program knows, the pages and caches of a browser, and most remarks.
///
/// The format is described at http://www.softwareishard.com/blog/har-12-spec/.
public struct HARDocument: Codable, Hashable, Sendable {
    /// The content of the document. The format has no other member at this level.
    package var log: Log

    /// Creates a document with these entries, in this order.
    package init(entries: [Entry] = [], creator: Application = .curlew, comment: String? = nil) {
        log = Log(creator: creator, entries: entries, comment: comment)
    }

    /// Reads a document from JSON in UTF-8, with or without a byte order mark.
    ///
    /// Throws `NetworkError` with the reason `.decoding`, whose `detail` contains the path of the faulty value, such as
    /// `$.log.entries[3].request.url`.
    public init(_ data: Data) throws(NetworkError) {
        do {
            self = try FastJSONDecoder().decode(HARDocument.self, from: data)
        } catch {
            var failure = NetworkError(error)
            failure.detail = "The text is not a HAR document. " + failure.detail
            failure.hint = "A HAR document is JSON with a member \"log\", as browsers and proxies export it."
            throw failure
        }
    }

    /// The entries of the document, in its order.
    public var entries: [Entry] {
        get { log.entries }
        set { log.entries = newValue }
    }

    /// Returns the document as JSON in UTF-8. The members of an object are sorted by name, so equal documents have
    /// equal bytes.
    ///
    /// Throws `NetworkError` with the reason `.encoding` if a number is infinite or not a number.
    ///
    /// - `pretty`: whether the text has line breaks and indentation, for files that people read and compare. Default
    ///   false.
    public func data(pretty: Bool = false) throws(NetworkError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return try encoder.encode(self)
        } catch {
            throw NetworkError(error)
        }
    }

    /// The content of a document: who wrote it, and the recorded exchanges.
    package struct Log: Codable, Hashable, Sendable {
        package var version = "1.2"
        package var creator: Application
        /// The recorded exchanges. The order of a document is kept, although the format recommends the order of their
        /// starts.
        package var entries: [Entry]
        package var comment: String?

        fileprivate init(creator: Application, entries: [Entry], comment: String?) {
            self.creator = creator
            self.entries = entries
            self.comment = comment
        }

        /// Reads the value. `creator` and `version` may be missing.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            version = try values.value(.version, or: "1.1")
            creator = try values.value(.creator, or: Application(name: "", version: ""))
            entries = try values.decode([Entry].self, forKey: .entries)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    package struct Application: Codable, Hashable, Sendable {
        package var name: String
        package var version: String

        package init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This package, the creator of the documents that it writes.
        package static let curlew = Application(name: "Curlew", version: "0.1")

        /// Reads the value. Missing texts are empty.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.value(.name, or: "")
            version = try values.value(.version, or: "")
        }
    }
}

extension KeyedDecodingContainer {
    /// Returns the value of a member; `neutral` if it is missing or null.
    func value<Value: Decodable>(_ key: Key, or neutral: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? neutral
    }
}
