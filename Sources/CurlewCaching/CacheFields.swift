// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The response fields that are stored, and how they are updated (RFC 9111 §3.1 and §3.2).
enum CacheFields {
    /// Fields that belong to one connection or to a proxy, and are not stored (RFC 9110 §7.6.1, RFC 9111 §3.1).
    private static let connection: Set<HTTPField.Name> = [
        .connection, "Keep-Alive", "Proxy-Connection", "TE", .transferEncoding, "Upgrade", "Proxy-Authenticate",
        "Proxy-Authorization", "Proxy-Authentication-Info",
    ]

    /// Fields that describe the stored bytes. An update of the entry does not change them (RFC 9111 §3.2). The
    /// transport may have decoded the body, so content codings are included.
    private static let fixed: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange]

    /// Returns the fields to store: all except connection fields, the fields that `no-cache` names, and `Set-Cookie`,
    /// because cookies are set only once and may be secrets. If `Date` is missing or invalid, the time at which the
    /// response was received replaces it.
    static func storable(
        _ headers: HTTPHeaders, _ control: CacheControl, receivedAt time: Date
    ) -> HTTPHeaders {
        var left = connection.union([.setCookie])
        if let listed = headers[.connection] { left.formUnion(words(listed).map { HTTPField.Name($0) }) }
        left.formUnion(control.fieldNames("no-cache") ?? [])
        var result = HTTPHeaders()
        result.reserveCapacity(headers.count + 1)
        for field in headers where !left.contains(field.name) { result.appendUnchecked(field) }
        if headers[values: .date].first.flatMap({ CacheDate.read($0, now: time) }) == nil {
            result[.date] = HTTPDate(time).description
        }
        return result
    }

    /// Returns the stored fields, updated with the fields of a newer response. The stored `Age` is always removed.
    static func updated(_ stored: HTTPHeaders, with new: HTTPHeaders) -> HTTPHeaders {
        var update = HTTPHeaders()
        for field in new where !fixed.contains(field.name) { update.appendUnchecked(field) }
        var old = stored
        old.remove(.age)
        return old.merging(update, replacing: true)
    }

    /// Returns the tags in `Cache-Tag` and `Surrogate-Key`: at most 64. Tags of more than 256 bytes are ignored.
    static func tags(_ headers: HTTPHeaders) -> Set<String> {
        var tags: Set<String> = []
        for field in ["Cache-Tag", "Surrogate-Key"] as [HTTPField.Name] {
            for value in headers[values: field] {
                for tag in words(value) where tag.utf8.count <= 256 {
                    guard tags.count < 64 else { return tags }
                    tags.insert(tag)
                }
            }
        }
        return tags
    }

    private static func words(_ text: String) -> [String] {
        text.utf8.split { ", \t".utf8.contains($0) }.map { String(Substring($0)) }
    }
}
