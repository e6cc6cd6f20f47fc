// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

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
