// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The call that opens the response of a stream of records.
struct RecordOpening: Sendable {
    let client: APIClient
    let route: any Route
    let options: RecordStreamOptions

    /// Opens the response. Returns nil if it has no records, because its status is 204.
    func open() async throws(NetworkError) -> OpenResponse? {
        let changes = APIClient.CallChanges { [options] call in
            call.isLive = true
            call.timeouts.idle = options.readTimeout
            call.limits.responseBody = .max
        } request: { [route, options] request, _ throws(NetworkError) in
            if !route.headers.contains(.accept) { request.headers[.accept] = options.accept }
        }
        let call = try await OpenResponse(of: route, from: client, changing: changes)
        guard call.response.status != .noContent else {
            await call.end()
            return nil
        }
        let type = call.response.headers[.contentType]
        let isLines = type.flatMap(MediaType.init).map { Self.types.contains($0.essence) } ?? false
        guard isLines || !options.checksContentType else {
            await call.end()
            throw call.named(
                NetworkError(
                    .badResponse,
                    detail: "The response is not JSON Lines: its Content-Type is "
                        + (type.map { "\"\($0.prefix(100))\"." } ?? "missing."),
                    hint: "Check that the endpoint sends records for this request. If it sends them with another type, "
                        + "set RecordStreamOptions.checksContentType to false."))
        }
        return call
    }

    private static let types: Set = [
        "application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines",
        "application/jsonlines", "application/json-lines", "application/x-json-lines", "application/stream+json",
    ]
}

extension RecordStreamOptions {
    fileprivate var accept: String {
        "application/jsonl, application/x-ndjson" + (checksContentType ? "" : ", */*;q=0.1")
    }
}
