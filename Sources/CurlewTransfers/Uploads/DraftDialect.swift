// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The messages of resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload-15).
///
/// An upload is created by a request without content, which learns the URL from the response: interim responses with
/// status 104 are optional, and not every transport reports them. Content goes with this request only if the server wants
/// a minimum. An interim response then names the URL before the content has arrived, so that a cut costs nothing.
struct DraftDialect: UploadDialect {
    static let interopVersion = "8"

    var resumption: Upload.Resumption { .draft }

    static func features(_ headers: HTTPHeaders) -> UploadFeatures? {
        let types = UploadFields.list(headers["Accept-Patch"]).map { String($0.upTo(";").trimmed()) }
        guard types.contains("application/partial-upload") || headers.contains("Upload-Limit") else { return nil }
        let limits = UploadFields.limits(headers["Upload-Limit"])
        return UploadFeatures(
            checksum: .sha256, maximumSize: limits["max-size"], maximumAppend: limits["max-append-size"],
            minimumAppend: limits["min-append-size"])
    }

    func creation(_ plan: UploadPlan, chunk: UploadChunk?) -> UploadCall {
        let isComplete = chunk?.isLast == true
        var fields = [Self.complete(isComplete)]
        if let length = plan.length { fields.append(HTTPField(name: "Upload-Length", value: "\(length)")) }
        fields.append(
            HTTPField(name: .contentType, value: plan.metadata.mediaType ?? MediaType.octetStream.description))
        if let disposition = plan.metadata.disposition {
            fields.append(HTTPField(name: .contentDisposition, value: disposition))
        }
        if let digest = chunk?.digest { fields.append(Self.digest(digest)) }
        var call = call(plan.method, .endpoint, fields)
        call.sendsChunk = chunk != nil
        call.isCreation = true
        return call
    }

    func question(_ url: String) -> UploadCall {
        call(.head, .upload(url), [])
    }

    func append(_ chunk: UploadChunk, at offset: Int64, to url: String, _ plan: UploadPlan) -> UploadCall {
        var fields = [
            HTTPField(name: .contentType, value: "application/partial-upload"),
            HTTPField(name: "Upload-Offset", value: "\(offset)"), Self.complete(chunk.isLast),
        ]
        if let digest = chunk.digest { fields.append(Self.digest(digest)) }
        var call = call(.patch, .upload(url), fields)
        call.sendsChunk = true
        return call
    }

    func removal(_ url: String) -> UploadCall {
        call(.delete, .upload(url), [])
    }

    func state(_ headers: HTTPHeaders, at now: Date) -> UploadState {
        let limits = UploadFields.limits(headers["Upload-Limit"])
        return UploadState(
            offset: UploadFields.integer(headers["Upload-Offset"]),
            length: UploadFields.integer(headers["Upload-Length"]),
            isComplete: UploadFields.boolean(headers["Upload-Complete"]),
            expires: limits["max-age"].map { now.addingTimeInterval(Double($0)) },
            maximumSize: limits["max-size"], maximumAppend: limits["max-append-size"],
            minimumAppend: limits["min-append-size"])
    }

    private func call(_ method: HTTPMethod, _ target: UploadCall.Target, _ fields: [HTTPField]) -> UploadCall {
        UploadCall(
            method: method, target: target,
            fields: [HTTPField(name: "Upload-Draft-Interop-Version", value: Self.interopVersion)] + fields)
    }

    private static func complete(_ isComplete: Bool) -> HTTPField {
        HTTPField(name: "Upload-Complete", value: isComplete ? "?1" : "?0")
    }

    /// `Content-Digest` of RFC 9530 in SHA-256, the only checksum with this protocol.
    private static func digest(_ digest: String) -> HTTPField {
        HTTPField(name: "Content-Digest", value: "sha-256=:\(digest):")
    }
}
