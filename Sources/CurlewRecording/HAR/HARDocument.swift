// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation

/// A recording of HTTP exchanges in the HTTP Archive format, HAR 1.2.
///
///     let document = try HARDocument(Data(contentsOf: file))
///     for entry in document.entries { print(entry.request.method, entry.request.url, entry.response.status) }
///
/// Browsers, proxies and test tools read and write this format. The values mirror its JSON objects. Facts that the
/// format has no place for are in fields whose names begin with an underscore, as the format requires.
///
/// Reading is tolerant: unknown fields are skipped, and a field that is missing although the format requires it gets a
/// neutral value (an empty list, or `-1` for a size) if there is one. Writing a document that another program made
/// therefore drops the fields that only that program knows.
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

    /// Returns the document as JSON in UTF-8. The members of an object are sorted by name, so equal documents have equal
    /// bytes.
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
        /// The version of the format. Default `1.2`.
        package var version: String
        /// The program that wrote the document.
        package var creator: Application
        /// The browser that made the requests; nil if none did.
        package var browser: Application?
        /// The pages that a browser loaded; nil if the document has no list of pages.
        package var pages: [Page]?
        /// The recorded exchanges. The order of a document is kept, although the format recommends the order of their
        /// starts.
        package var entries: [Entry]
        /// A remark.
        package var comment: String?

        /// Creates the content of a document of version 1.2.
        package init(
            version: String = "1.2", creator: Application = .curlew, browser: Application? = nil,
            pages: [Page]? = nil, entries: [Entry] = [], comment: String? = nil
        ) {
            self.version = version
            self.creator = creator
            self.browser = browser
            self.pages = pages
            self.entries = entries
            self.comment = comment
        }

        /// Reads the value. `creator` and `version` may be missing.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            version = try values.decodeIfPresent(String.self, forKey: .version) ?? "1.1"
            creator =
                try values.decodeIfPresent(Application.self, forKey: .creator) ?? Application(name: "", version: "")
            browser = try values.decodeIfPresent(Application.self, forKey: .browser)
            pages = try values.decodeIfPresent([Page].self, forKey: .pages)
            entries = try values.decode([Entry].self, forKey: .entries)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// The name and version of a program.
    package struct Application: Codable, Hashable, Sendable {
        /// The name of the program.
        package var name: String
        /// The version of the program.
        package var version: String
        /// A remark.
        package var comment: String?

        /// Creates the description of a program.
        package init(name: String, version: String, comment: String? = nil) {
            self.name = name
            self.version = version
            self.comment = comment
        }

        /// This package, the creator of the documents that it writes.
        package static let curlew = Application(name: "Curlew", version: "0.1")

        /// Reads the value. Missing texts are empty.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decodeIfPresent(String.self, forKey: .name) ?? ""
            version = try values.decodeIfPresent(String.self, forKey: .version) ?? ""
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// A page that a browser loaded.
    package struct Page: Codable, Hashable, Sendable {
        /// The moment when the page began to load, in ISO 8601 format, as it is in the document.
        package var startedDateTime: String
        /// The name by which entries refer to the page (`Entry.pageref`).
        package var id: String
        /// The title of the page.
        package var title: String
        /// The times when the page was loaded.
        package var pageTimings: PageTimings
        /// A remark.
        package var comment: String?

        /// Creates the description of a page.
        package init(
            startedDateTime: String, id: String, title: String, pageTimings: PageTimings = PageTimings(),
            comment: String? = nil
        ) {
            self.startedDateTime = startedDateTime
            self.id = id
            self.title = title
            self.pageTimings = pageTimings
            self.comment = comment
        }

        /// Reads the value. Missing texts are empty, and missing times are unknown.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            startedDateTime = try values.decodeIfPresent(String.self, forKey: .startedDateTime) ?? ""
            id = try values.decodeIfPresent(String.self, forKey: .id) ?? ""
            title = try values.decodeIfPresent(String.self, forKey: .title) ?? ""
            pageTimings = try values.decodeIfPresent(PageTimings.self, forKey: .pageTimings) ?? PageTimings()
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// The times when a page was loaded, in milliseconds since its start. `-1` and nil mean that a time is unknown.
    package struct PageTimings: Codable, Hashable, Sendable {
        /// The moment when the content of the page was loaded.
        package var onContentLoad: Double?
        /// The moment when the page was loaded.
        package var onLoad: Double?
        /// A remark.
        package var comment: String?

        /// Creates the times of a page.
        package init(onContentLoad: Double? = nil, onLoad: Double? = nil, comment: String? = nil) {
            self.onContentLoad = onContentLoad
            self.onLoad = onLoad
            self.comment = comment
        }
    }
}
