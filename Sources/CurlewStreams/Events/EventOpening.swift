// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The calls that open the connections of a stream.
struct EventOpening: Sendable {
    let client: APIClient
    let route: any Route
    let options: EventStream.Options

    /// An ID that is longer is not sent, because servers refuse large fields.
    private static let maximumIDLength = 8 << 10

    var reconnects: Bool {
        options.reconnects ?? (route.method == .get || route.method == .head)
    }

    /// Opens a connection. Returns nil if the server ends the stream with 204.
    func open(lastEventID: String) async throws(NetworkError) -> OpenResponse? {
        let changes = APIClient.CallChanges { call in
            call.isLive = true
            call.timeouts.idle = nil
            call.limits.responseBody = .max
        } request: { [route] request, _ throws(NetworkError) in
            if !route.headers.contains(.accept) { request.headers[.accept] = "text/event-stream" }
            if !route.headers.contains(.cacheControl) { request.headers[.cacheControl] = "no-cache" }
            if !lastEventID.isEmpty, Self.isField(lastEventID) { request.headers["Last-Event-ID"] = lastEventID }
        }
        let call = try await OpenResponse(of: route, from: client, changing: changes)
        if call.response.status == .noContent {
            await call.end()
            return nil
        }
        let type = call.response.headers[.contentType]
        guard type.flatMap(MediaType.init)?.essence == MediaType.eventStream.essence else {
            await call.end()
            throw call.named(
                NetworkError(
                    .badResponse,
                    detail: "The response is not an event stream: its Content-Type is "
                        + (type.map { "\"\($0.prefix(100))\"." } ?? "missing."),
                    hint: "Check that the endpoint sends text/event-stream for this request."))
        }
        return call
    }

    private static func isField(_ id: String) -> Bool {
        id.utf8.count <= maximumIDLength && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
