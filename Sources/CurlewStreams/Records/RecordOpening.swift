// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The call that opens the response of a stream of records.
struct RecordOpening: Sendable {
    let client: APIClient
    let route: any Route
    let options: RecordStreamOptions

    /// Opens the response. Returns nil if it has no records, because its status is 204.
    func open() async throws(NetworkError) -> RecordConnection? {
        var changes = APIClient.CallChanges()
        changes.options = { [options] call in
            call.isLive = true
            call.timeouts.idle = options.readTimeout
            call.limits.responseBody = .max
        }
        changes.request = { [route, options] request, _ throws(NetworkError) in
            if !route.headers.contains(.accept) { request.headers[.accept] = Self.accept(options.format) }
        }
        let call = try await client.open(route, changing: changes)
        guard call.response.status != .noContent else {
            await call.end()
            return nil
        }
        let type = call.response.headers[.contentType]
        guard let format = options.format ?? type.flatMap(MediaType.init).flatMap({ RecordFormat($0) }) else {
            await call.end()
            throw call.named(
                NetworkError(
                    .badResponse,
                    detail: "The response is neither JSON Lines nor a JSON text sequence: its Content-Type is "
                        + (type.map { "\"\($0.prefix(100))\"." } ?? "missing."),
                    hint: "Check that the endpoint sends records for this request. If it sends them with another type, "
                        + "set RecordStreamOptions.format."))
        }
        return RecordConnection(call, format)
    }

    private static func accept(_ format: RecordFormat?) -> String {
        switch format {
        case nil: "application/jsonl, application/x-ndjson, application/json-seq"
        case .lines: "application/jsonl, application/x-ndjson, */*;q=0.1"
        case .sequence: "application/json-seq, */*;q=0.1"
        }
    }
}

/// A response whose records are being read. The connection is closed when the last reference is released.
final class RecordConnection: Sendable {
    let call: APIClient.OpenResponse
    let format: RecordFormat

    init(_ call: APIClient.OpenResponse, _ format: RecordFormat) {
        self.call = call
        self.format = format
    }

    deinit { call.response.body.cancel() }

    /// Returns the response for the error of a bad record, with the bytes of the record as its body.
    func response(with record: Data) -> NetworkError.Response {
        let received = call.response
        let excerpt = Data(record.prefix(max(0, call.context.limits.errorExcerpt)))
        return NetworkError.Response(
            status: received.status, headers: received.headers, body: excerpt,
            isTruncated: excerpt.count < record.count, reasonPhrase: received.reasonPhrase)
    }
}

extension RecordFormat {
    private static let lineTypes: Set = [
        "application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines",
        "application/jsonlines", "application/json-lines", "application/x-json-lines", "application/stream+json",
    ]

    /// The format of content with this media type; nil if it has no records.
    init?(_ type: MediaType) {
        if Self.lineTypes.contains(type.essence) {
            self = .lines
        } else if type.essence == MediaType.jsonSequence.essence || type.subtype.ends(with: "+json-seq") {
            self = .sequence
        } else {
            return nil
        }
    }
}
