// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request of an upload, without its content.
struct UploadCall: Hashable, Sendable {
    enum Target: Hashable, Sendable {
        /// The resource that creates uploads.
        case endpoint
        /// The upload with this absolute URL.
        case upload(String)
    }

    var method: HTTPMethod
    var target: Target
    var fields: [HTTPField]
    /// Whether the request has the chunk that was read last as its content.
    var sendsChunk = false
    /// Whether the request creates the upload, so that it has the fields of the caller's request.
    var isCreation = false
}

/// A successful response.
struct UploadReply: Sendable {
    var status: HTTPStatus
    var headers: HTTPHeaders
    /// The absolute URL of the response, after redirects.
    var url: String
}

/// A chunk of the source, as the machine sees it.
struct UploadChunk: Hashable, Sendable {
    var count: Int64
    /// Whether the source ends with this chunk.
    var isLast: Bool
    /// The digest in Base64, if the machine asked for one.
    var digest: String?
}

/// A checksum that a request can have.
enum UploadChecksum: String, Codable, Sendable, CaseIterable {
    // In order of preference.
    case sha256, sha1, md5
}

/// What a server offers, and what it allows.
struct UploadFeatures: Hashable, Sendable {
    var extensions: Set<String> = []
    var checksum: UploadChecksum?
    var maximumSize: Int64?
    var maximumAppend: Int64?
    var minimumAppend: Int64?
}

/// What a response says about the upload.
struct UploadState: Hashable, Sendable {
    var offset: Int64?
    var length: Int64?
    /// Whether the server knows that the length is unknown so far.
    var isLengthDeferred = false
    /// Nil where the protocol derives it from the offset.
    var isComplete: Bool?
    var expires: Date?
    var maximumSize: Int64?
    var maximumAppend: Int64?
    var minimumAppend: Int64?
}

/// The messages of one protocol. The machine, `UploadCourse`, decides which of them is sent when.
protocol UploadDialect: Sendable {
    var resumption: Upload.Resumption { get }

    /// Returns what the response to OPTIONS offers; nil if it does not offer this protocol.
    static func features(_ headers: HTTPHeaders) -> UploadFeatures?
    /// Returns the request that creates the upload.
    func creation(_ plan: UploadPlan, chunk: UploadChunk?) -> UploadCall
    /// Returns the request that asks for the offset.
    func question(_ url: String) -> UploadCall
    /// Returns the request that appends a chunk at `offset`.
    func append(_ chunk: UploadChunk, at offset: Int64, to url: String, _ plan: UploadPlan) -> UploadCall
    /// Returns the request that discards the upload.
    func removal(_ url: String) -> UploadCall
    /// Returns what the fields of a response say.
    func state(_ headers: HTTPHeaders, at now: Date) -> UploadState
}

/// The constant facts of one upload, or of one of its parallel parts.
struct UploadPlan: Sendable {
    enum Role: Hashable, Sendable {
        case whole
        /// One of several parts that the server joins later.
        case part
        /// The upload that joins the parts with these URLs.
        case join([String])
    }

    var role = Role.whole
    var method = HTTPMethod.post
    /// The number of bytes; nil while it is unknown.
    var length: Int64?
    /// Whether the length was unknown when the upload was created.
    var defersLength = false
    var chunkSize: Int64?
    /// The maximum number of bytes of a request whose content is in memory; nil if it is not. A server's minimum does
    /// not raise it.
    var bufferLimit: Int64?
    var metadata: UploadMetadata
    var features = UploadFeatures()
    var maximumFailures = 10
    var maximumWait = Duration.seconds(60)

    /// The maximum number of bytes of a request.
    var limit: Int64 {
        let wanted = max(min(chunkSize ?? .max, features.maximumAppend ?? .max), features.minimumAppend ?? 1, 1)
        return min(wanted, bufferLimit ?? .max)
    }
}
