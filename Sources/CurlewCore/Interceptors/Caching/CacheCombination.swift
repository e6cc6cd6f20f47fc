// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Two answers that are parts of one representation, put together (RFC 9111 §3.4, RFC 9110 §15.3.7.3).
struct CacheCombination: Sendable {
    /// The head of the whole.
    let head: StoredResponse
    /// What the stored body gives before and behind the new one, counted in the stored body.
    let before: Range<Int64>
    let behind: Range<Int64>

    /// Nil unless both share a strong validator, touch or overlap, and have the same length.
    init?(_ new: StoredResponse, with stored: StoredResponse) {
        guard let part = new.part, stored.key == new.key, stored.variant == new.variant,
            Self.shareStrongValidator(new, stored)
        else { return nil }
        let old: ContentRange
        if let range = stored.part {
            old = range
        } else {
            guard stored.status == .ok, stored.isIdentity, stored.bodyLength > 0 else { return nil }
            old = ContentRange(0..<stored.bodyLength, of: stored.bodyLength)
        }
        guard old.bytes.count == stored.bodyLength, !new.headers.contains(.contentEncoding) else { return nil }
        if let one = old.length, let other = part.length, one != other { return nil }
        let (mine, theirs) = (part.bytes, old.bytes)
        guard mine.lowerBound <= theirs.upperBound, theirs.lowerBound <= mine.upperBound else { return nil }

        let first = theirs.lowerBound
        before = 0..<max(0, min(mine.lowerBound, theirs.upperBound) - first)
        behind = min(stored.bodyLength, max(0, mine.upperBound - first))..<stored.bodyLength
        let bytes = min(mine.lowerBound, first)..<max(mine.upperBound, theirs.upperBound)
        head = Self.head(new, stored, bytes, part.length ?? old.length)
    }

    /// The fields of both, as an update of the stored ones; a representation that is all there is a 200.
    private static func head(
        _ new: StoredResponse, _ stored: StoredResponse, _ bytes: Range<Int64>, _ length: Int64?
    ) -> StoredResponse {
        var head = new
        head.headers = CacheFields.updated(stored.headers, with: new.headers)
        head.headers[.contentLength] = "\(bytes.count)"
        head.tags.formUnion(stored.tags)
        if bytes.lowerBound == 0, bytes.upperBound == length {
            head.status = .ok
            head.headers.remove(.contentRange)
        } else {
            head.headers[.contentRange] = ContentRange(bytes, of: length).description
        }
        return head
    }

    private static func shareStrongValidator(_ one: StoredResponse, _ other: StoredResponse) -> Bool {
        let tags = [one, other].map { $0.headers[.eTag].flatMap { EntityTag($0) } }
        if let left = tags[0], let right = tags[1] { return left.matchesStrongly(right) }
        guard tags[0] == nil, tags[1] == nil, let date = one.headers[.lastModified] else { return false }
        return date == other.headers[.lastModified] && one.hasStrongDate && other.hasStrongDate
    }
}
