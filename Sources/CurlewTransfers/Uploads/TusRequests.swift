// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A request of an upload, without its content.
struct TusRequest: Hashable, Sendable {
    var method: HTTPMethod
    /// The absolute URL of the upload; nil for the resource that creates uploads.
    var url: String?
    var fields: [HTTPField] = []

    /// Whether the request has the chunk that was read last as its content.
    var sendsChunk: Bool { method == .patch }
    /// Whether the request creates the upload, so that it has the fields of the caller's request.
    var isCreation: Bool { method == .post }
}

/// A checksum that a request can have.
enum UploadChecksum: String, Codable, Sendable, CaseIterable {
    // In order of preference.
    case sha256, sha1, md5
}

/// What a server offers, and what it allows.
struct TusFeatures: Hashable, Sendable {
    var checksum: UploadChecksum?
    var maximumSize: Int64?
}

/// What a response says about the upload. A value that is not valid is ignored, as if the field were missing.
struct TusState: Hashable, Sendable {
    var offset: Int64?
    var length: Int64?
    var expires: Date?

    init(_ headers: HTTPHeaders, at now: Date) {
        offset = TusRequests.integer(headers["Upload-Offset"])
        length = TusRequests.integer(headers["Upload-Length"])
        expires = headers["Upload-Expires"].flatMap { HTTPDate($0, now: now)?.date }
    }
}

/// The messages of tus 1.0 with the extensions creation, expiration, checksum and termination.
/// `UploadRun` decides which of them is sent when.
enum TusRequests {
    static let version = "1.0.0"

    /// Returns what the response to OPTIONS offers; nil if it does not offer tus 1.0.
    static func features(_ headers: HTTPHeaders) -> TusFeatures? {
        guard (list(headers["Tus-Version"]) + list(headers["Tus-Resumable"])).contains(version) else { return nil }
        var features = TusFeatures(maximumSize: integer(headers["Tus-Max-Size"]))
        if list(headers["Tus-Extension"]).contains("checksum") {
            let offered = list(headers["Tus-Checksum-Algorithm"])
            features.checksum = UploadChecksum.allCases.first { offered.contains($0.rawValue) }
        }
        return features
    }

    /// Returns the request that asks what the server offers.
    static var discovery: TusRequest { TusRequest(method: .options) }

    /// Returns the request that creates the upload.
    static func creation(length: Int64, _ metadata: UploadMetadata) -> TusRequest {
        var fields = [HTTPField(name: "Upload-Length", value: "\(length)")]
        if let metadata = metadata.field { fields.append(HTTPField(name: "Upload-Metadata", value: metadata)) }
        return request(.post, nil, fields)
    }

    /// Returns the request that asks for the offset.
    static func question(_ url: String) -> TusRequest { request(.head, url) }

    /// Returns the request that appends a chunk at `offset`.
    static func append(
        _ chunk: UploadChunk, at offset: Int64, to url: String, _ checksum: UploadChecksum?
    ) -> TusRequest {
        var fields = [
            HTTPField(name: .contentType, value: "application/offset+octet-stream"),
            HTTPField(name: "Upload-Offset", value: "\(offset)"),
        ]
        if let digest = chunk.digest, let checksum {
            fields.append(HTTPField(name: "Upload-Checksum", value: "\(checksum.rawValue) \(digest)"))
        }
        return request(.patch, url, fields)
    }

    /// Returns the request that discards the upload.
    static func removal(_ url: String) -> TusRequest { request(.delete, url) }

    private static func request(_ method: HTTPMethod, _ url: String?, _ fields: [HTTPField] = []) -> TusRequest {
        TusRequest(method: method, url: url, fields: [HTTPField(name: "Tus-Resumable", value: version)] + fields)
    }

    /// Returns a non-negative integer of at most 15 digits, without parameters.
    static func integer(_ value: String?) -> Int64? {
        guard let text = value?.upTo(";").trimmed(), (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }

    /// Returns the elements of a comma-separated list, in lower case, at most 100.
    private static func list(_ value: String?) -> [String] {
        (value ?? "").parts(",", most: 100).map { $0.trimmed().lowercased() }.filter { !$0.isEmpty }
    }
}
