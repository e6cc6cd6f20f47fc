// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The head of a stored response: all that is needed to decide whether it answers a request.
public struct StoredResponse: Hashable, Sendable {
    /// The most entries that share a key.
    public static let variantLimit = 32

    /// Tells entries apart, also those that replace each other.
    public let id: CacheEntryID
    /// What it answers.
    public let key: CacheKey
    /// The request fields that `Vary` names, normalised, as one text (the secondary key of RFC 9111 §4.1); secrets
    /// and long texts as a hash. Entries of a key and of one variant replace each other. Empty without `Vary`.
    public var variant = ""
    /// The status: 206 for a part of a representation.
    public var status: HTTPStatus
    /// The fields, without those that belong to a connection (RFC 9111 §3.1).
    public var headers: HTTPHeaders
    /// The protocol version of the answer.
    public var version: HTTPVersion
    /// When the request was sent, by the wall clock.
    public var requestTime: Date
    /// When the head of the answer came.
    public var responseTime: Date
    /// Names under which it can be removed together with others.
    public var tags: Set<String>
    /// How many bytes the body has. Stores set it when the body is complete.
    public var bodyLength: Int64 = 0
    /// What the store that found it knows beside the head. It says nothing about the response.
    package var hint: StoreHint?

    /// A head with an `id` of its own.
    public init(
        key: CacheKey, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], version: HTTPVersion = .http1_1,
        requestTime: Date, responseTime: Date, tags: Set<String> = []
    ) {
        self.init(
            id: CacheEntryID(), key: key, status: status, headers: headers, version: version,
            requestTime: requestTime, responseTime: responseTime, tags: tags)
    }

    init(
        id: CacheEntryID, key: CacheKey, status: HTTPStatus, headers: HTTPHeaders, version: HTTPVersion,
        requestTime: Date, responseTime: Date, tags: Set<String>
    ) {
        self.id = id
        self.key = key
        self.status = status
        self.headers = headers
        self.version = version
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.tags = tags
        key.secrets.declare(in: &self.headers)
    }
}

/// What a store noted at a lookup, so that opening the body need not look again.
package struct StoreHint: Sendable {
    /// The place of the entry, or whatever else tells the store if it is still there.
    package let mark: Int
    /// The body, if it was small and read with the head.
    package let bytes: Data?

    package init(mark: Int, bytes: Data? = nil) {
        self.mark = mark
        self.bytes = bytes
    }
}

/// The name of an entry: 63 random bits, so that several processes can give them.
public struct CacheEntryID: Hashable, Sendable {
    /// Never negative.
    public let number: Int64

    /// A new name.
    public init() {
        number = .random(in: 0 ... .max)
    }

    /// A name that was given before.
    public init(_ number: Int64) {
        self.number = number
    }
}

extension StoredResponse {
    /// Equal when it is the same entry with the same head.
    public static func == (left: StoredResponse, right: StoredResponse) -> Bool {
        left.id == right.id && left.key == right.key && left.variant == right.variant && left.status == right.status
            && left.version == right.version && left.requestTime == right.requestTime
            && left.responseTime == right.responseTime && left.tags == right.tags
            && left.bodyLength == right.bodyLength && left.headers == right.headers
    }

    /// By the entry alone.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension StoredResponse: CustomStringConvertible, CustomReflectable {
    /// `200 OK for https://…, 12 bytes`, with secret values of the URL replaced: those that Curlew knows, and those that
    /// were declared when the response was stored.
    public var description: String {
        "\(status) for \(key), \(bodyLength) bytes"
    }

    /// Shows the description and the fields, to debuggers and `dump` too; no secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers, "tags": tags.count])
    }
}
