// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The capabilities of a tus 1.0 server.
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

/// The state of the upload in a response. An invalid value counts as missing.
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
