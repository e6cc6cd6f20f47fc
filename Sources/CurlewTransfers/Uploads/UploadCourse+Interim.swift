// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of an interim response with status 104 (Upload Resumption Supported).
struct UploadInterim: Sendable {
    var headers: HTTPHeaders
    /// The absolute URL of the request.
    var url: String
}

extension UploadCourse {
    /// Takes what an interim response of the running request says: the URL of the upload, its limits, and the offset,
    /// which is progress. It causes no action. What is not plausible is ignored, because the final response and the next
    /// request for the offset decide.
    mutating func note(_ interim: UploadInterim, at now: Date) {
        guard dialect.resumption == .draft else { return }
        let most: Int64
        switch state {
        case .creating(let chunk):
            most = chunk?.count ?? 0
            if url == nil, let location = interim.headers[.location] {
                url = try? Self.resolve(location, against: interim.url)
            }
        case .appending(let offset, let chunk): most = offset + chunk.count
        default: return
        }
        let status = take(interim.headers, at: now)
        guard let offset = status.offset, offset <= most, offset > max(acknowledged, self.offset) else { return }
        acknowledged = offset
        failures = 0
    }

    /// The offset that the server has confirmed last, by a response or an interim response.
    var confirmed: Int64 { max(offset, acknowledged) }

    static var moved: NetworkError {
        NetworkError(
            .badResponse, detail: "The server named two different URLs for one upload.",
            hint: "Report this to the operator of the server. Begin a new upload.")
    }
}
