// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The messages of tus 1.0 with the extensions creation, creation-with-upload, creation-defer-length, expiration,
/// checksum, termination and concatenation.
struct TusDialect: UploadDialect {
    static let version = "1.0.0"
    /// Larger sources are not sent with the request that creates their upload: if the response is lost, the content is
    /// sent again.
    static let mostWithCreation: Int64 = 64 << 10

    var resumption: Upload.Resumption { .tus }

    static func features(_ headers: HTTPHeaders) -> UploadFeatures? {
        let versions = UploadFields.list(headers["Tus-Version"]) + UploadFields.list(headers["Tus-Resumable"])
        guard versions.contains(version) else { return nil }
        var features = UploadFeatures(extensions: Set(UploadFields.list(headers["Tus-Extension"])))
        features.maximumSize = UploadFields.integer(headers["Tus-Max-Size"])
        if features.extensions.contains("checksum") {
            let offered = UploadFields.list(headers["Tus-Checksum-Algorithm"])
            features.checksum = UploadChecksum.allCases.first { offered.contains($0.rawValue) }
        }
        return features
    }

    func creation(_ plan: UploadPlan, chunk: UploadChunk?) -> UploadCall {
        var fields: [HTTPField] = []
        if case .join(let urls) = plan.role {
            fields.append(HTTPField(name: "Upload-Concat", value: "final;" + urls.joined(separator: " ")))
        } else if let length = plan.length, !plan.defersLength {
            fields.append(HTTPField(name: "Upload-Length", value: "\(length)"))
        } else {
            fields.append(HTTPField(name: "Upload-Defer-Length", value: "1"))
        }
        if plan.role == .part { fields.append(HTTPField(name: "Upload-Concat", value: "partial")) }
        if let metadata = plan.metadata.tusField {
            fields.append(HTTPField(name: "Upload-Metadata", value: metadata))
        }
        if chunk != nil { fields.append(Self.contentType) }
        var call = call(.post, .endpoint, fields)
        call.sendsChunk = chunk != nil
        call.isCreation = true
        return call
    }

    func question(_ url: String) -> UploadCall {
        call(.head, .upload(url), [])
    }

    func append(_ chunk: UploadChunk, at offset: Int64, to url: String, _ plan: UploadPlan) -> UploadCall {
        var fields = [Self.contentType, HTTPField(name: "Upload-Offset", value: "\(offset)")]
        if plan.defersLength, chunk.isLast {
            fields.append(HTTPField(name: "Upload-Length", value: "\(offset + chunk.count)"))
        }
        if let digest = chunk.digest, let checksum = plan.features.checksum {
            fields.append(HTTPField(name: "Upload-Checksum", value: "\(checksum.rawValue) \(digest)"))
        }
        var call = call(.patch, .upload(url), fields)
        call.sendsChunk = true
        return call
    }

    func removal(_ url: String) -> UploadCall {
        call(.delete, .upload(url), [])
    }

    func state(_ headers: HTTPHeaders, at now: Date) -> UploadState {
        UploadState(
            offset: UploadFields.integer(headers["Upload-Offset"]),
            length: UploadFields.integer(headers["Upload-Length"]),
            isLengthDeferred: headers.contains("Upload-Defer-Length"),
            expires: headers["Upload-Expires"].flatMap { HTTPDate($0, now: now)?.date })
    }

    private func call(_ method: HTTPMethod, _ target: UploadCall.Target, _ fields: [HTTPField]) -> UploadCall {
        UploadCall(
            method: method, target: target,
            fields: [HTTPField(name: "Tus-Resumable", value: Self.version)] + fields)
    }

    private static let contentType = HTTPField(name: .contentType, value: "application/offset+octet-stream")
}
