// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// What a server that offers tus 1.0 allows.
struct TusFeatures: Hashable, Sendable {
    var maximumSize: Int64?

    /// Reads the response to OPTIONS; nil if it does not offer tus 1.0.
    init?(_ headers: HTTPHeaders) {
        let versions = [headers["Tus-Version"], headers["Tus-Resumable"]].flatMap { value in
            (value ?? "").parts(",", maximum: 100).map { $0.trimmed() }
        }
        guard versions.contains(where: { $0 == UploadRequests.version }) else { return nil }
        maximumSize = TusState.integer(headers["Tus-Max-Size"])
    }
}

/// What a response says about the upload. A value that is not valid is ignored, as if the field were missing.
struct TusState: Hashable, Sendable {
    var offset: Int64?
    var length: Int64?
    var expires: Date?

    init(_ headers: HTTPHeaders, at now: Date) {
        offset = Self.integer(headers["Upload-Offset"])
        length = Self.integer(headers["Upload-Length"])
        expires = headers["Upload-Expires"].flatMap { HTTPDate($0, now: now)?.date }
    }

    /// Returns a non-negative integer of at most 15 digits, without parameters.
    static func integer(_ value: String?) -> Int64? {
        guard let text = value?.upTo(";").trimmed(), (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
