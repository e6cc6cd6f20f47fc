// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What identifies the version of a file that a server sends: its strong validator and its length.
struct Representation: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    var entityTag: String?
    /// The text of `Last-Modified`, if it is a strong validator.
    var lastModified: String?
    /// The number of bytes; nil if the server does not declare it.
    var length: Int64?

    /// The seconds between `Last-Modified` and `Date` from which a date is a strong validator: a file can change twice
    /// in one second (RFC 9110 §8.8.2.2), and clocks differ.
    private static let strongAge: Double = 60

    init(_ headers: HTTPHeaders, length: Int64?) {
        self.length = length
        if let text = headers[.eTag], let tag = EntityTag(text), !tag.isWeak { entityTag = "\"\(tag.opaque)\"" }
        if let text = headers[.lastModified], let changed = HTTPDate(text),
            let sent = headers[.date].flatMap({ HTTPDate($0) }),
            changed.date.timeIntervalSince1970 + Self.strongAge <= sent.date.timeIntervalSince1970
        {
            lastModified = text
        }
    }

    /// The value of `If-Range` that requests a part of exactly this version; nil without a strong validator.
    var condition: String? { entityTag ?? lastModified }

    /// Whether the rest can be requested later, and the result be verified.
    var canContinue: Bool { condition != nil && length != nil }

    /// Returns whether a part with these fields can belong to this version.
    func matches(_ headers: HTTPHeaders) -> Bool {
        let other = Representation(headers, length: nil)
        if let entityTag, let found = headers[.eTag] {
            return EntityTag(found).map { "\"\($0.opaque)\"" == entityTag && !$0.isWeak } ?? false
        }
        if entityTag == nil, let lastModified, let found = other.lastModified ?? headers[.lastModified] {
            return found == lastModified
        }
        return true
    }
}

/// What a response means for a download that asked for the complete file or for a part of it.
enum DownloadVerdict: Equatable, Sendable {
    /// The body is the complete file.
    case complete(Representation)
    /// The body is the part that was asked for.
    case part(Range<Int64>)
    /// The file has changed since its first part.
    case changed
    /// The response violates the protocol: the part is not the one that was asked for, or is encoded.
    case unusable(String)

    /// Judges the response to a request for the complete file.
    static func judge(whole status: HTTPStatus, _ headers: HTTPHeaders, length: Int64?) -> DownloadVerdict {
        guard status != .partialContent else {
            return .unusable("The server sent a part of the file, although the complete file was requested.")
        }
        return .complete(Representation(headers, length: length))
    }

    /// Judges the response to a request for the bytes of `range` of a known version.
    static func judge(
        part range: Range<Int64>, of known: Representation, _ status: HTTPStatus, _ headers: HTTPHeaders, length: Int64?
    ) -> DownloadVerdict {
        guard status == .partialContent else { return .complete(Representation(headers, length: length)) }
        guard let text = headers[.contentRange], let found = ContentRange(text) else {
            return .unusable("The server sent a part without a valid Content-Range (RFC 9110 §14.4).")
        }
        guard known.matches(headers), found.length == nil || found.length == known.length else { return .changed }
        guard headers[.contentEncoding] == nil else {
            return .unusable("The server sent a part of an encoded file.")
        }
        guard found.bytes.lowerBound == range.lowerBound, found.bytes.upperBound <= range.upperBound else {
            return .unusable(
                "The server sent the bytes \(found.bytes.lowerBound) to \(found.bytes.upperBound - 1), but "
                    + "\(range.lowerBound) to \(range.upperBound - 1) were requested.")
        }
        return .part(found.bytes)
    }
}
