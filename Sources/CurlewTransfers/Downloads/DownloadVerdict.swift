// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The meaning of a response for a download that requested the complete file or a part of it.
enum DownloadVerdict: Equatable, Sendable {
    case complete(Representation)
    /// The body is the requested part, or the beginning of it.
    case part(Range<Int64>)
    /// The file has changed since its first part.
    case changed
    /// The response violates the protocol, or its part cannot be combined with others.
    case unusable(String)

    /// Evaluates the response to a request for the complete file, or for `remainder` of a known version.
    ///
    /// - `length`: the length of the body; nil if it is not declared.
    static func evaluate(
        _ status: HTTPStatus, _ headers: HTTPHeaders, length: Int64?, remainder: DownloadRequest.Remainder?
    ) -> DownloadVerdict {
        guard let remainder else {
            guard status != .partialContent else {
                return .unusable("The server sent a part of the file, although the complete file was requested.")
            }
            return .complete(Representation(headers, length: length))
        }
        let (range, known) = (remainder.range, remainder.file)
        if status == .rangeNotSatisfiable {
            let text = headers[.contentRange].map { $0.trimmed() } ?? ""
            guard let length = known.length, text.utf8.elementsEqual("bytes */\(length)".utf8) else { return .changed }
            return .unusable("The server refused a range inside of the file.")
        }
        guard status == .partialContent else {
            // Without a range, the server decides what its file is.
            guard status == .ok || status.code == 203 else {
                return .unusable("The server responded with \(status.code) to a range.")
            }
            return .complete(Representation(headers, length: length))
        }
        if let type = headers[.contentType].flatMap({ MediaType($0) }), type.essence == "multipart/byteranges" {
            return .unusable("The server sent several parts, although one was requested.")
        }
        guard let text = headers[.contentRange], let found = ContentRange(text) else {
            return .unusable("The server sent a part without a valid Content-Range (RFC 9110 §14.4).")
        }
        guard found.length == nil || found.length == known.length else { return .changed }
        switch known.relation(to: headers) {
        case .same: break
        case .other: return .changed
        case .unknown: return .unusable("The server sent a part without a strong validator (RFC 9110 §15.3.7.3).")
        }
        guard headers[.contentEncoding] == nil else {
            return .unusable("The server sent a part of an encoded file.")
        }
        guard found.bytes.lowerBound == range.lowerBound, found.bytes.upperBound <= range.upperBound else {
            return .unusable(
                "The server sent the bytes \(found.bytes.lowerBound) to \(found.bytes.upperBound - 1), but "
                    + "\(range.lowerBound) to \(range.upperBound - 1) were requested.")
        }
        guard length == nil || length == Int64(found.bytes.count) else {
            return .unusable("The length of a part differs from its Content-Range.")
        }
        return .part(found.bytes)
    }
}

/// The version of a file: its strong validator and its length.
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

    /// Whether two complete responses contain the same version, by their validators and lengths.
    func isSame(as other: Representation) -> Bool {
        guard length == other.length else { return false }
        if entityTag != nil || other.entityTag != nil { return entityTag == other.entityTag }
        return lastModified != nil && lastModified == other.lastModified
    }

    /// The relation of the validators of a part to this version.
    enum Relation: Hashable, Sendable {
        case same, other
        /// The part has no strong validator, so it must not be combined with others (RFC 9110 §15.3.7.3).
        case unknown
    }

    /// Returns whether a part with these fields belongs to this version. A part of a version with an entity tag must
    /// repeat it. `Last-Modified` is optional in parts, so that only another date shows another version.
    func relation(to headers: HTTPHeaders) -> Relation {
        guard let entityTag else {
            guard let lastModified, let found = headers[.lastModified] else { return .same }
            return found == lastModified ? .same : .other
        }
        guard let text = headers[.eTag], let found = EntityTag(text) else { return .unknown }
        guard "\"\(found.opaque)\"" == entityTag else { return .other }
        return found.isWeak ? .unknown : .same
    }
}
