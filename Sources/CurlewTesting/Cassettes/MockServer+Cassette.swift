// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

extension MockServer {
    /// Creates a server that responds from the entries of a cassette, for clients that cannot take a `Transport`, such
    /// as code that uses `URLSession`. Pass ``url`` to that code as its base URL.
    ///
    /// Requests are matched as by the cassette, except that the origin is ignored, and that only the redaction of the
    /// cassette's options applies. Each server replays the entries from the start, whatever the mode of the cassette,
    /// and marks them as used. Routes that are added to the server take precedence over the cassette.
    ///
    /// - A `Location` with the origin of the recorded request is changed to that of the server.
    /// - Recorded trailers and interim responses are sent.
    /// - An entry with a failure ends the connection: before the head, or after the part of the body that was recorded.
    /// - A request without a match is a 404 with the nearest entry, and is one of the cassette's `problems` and of
    ///   ``unmatchedRequests``.
    ///
    /// Throws if the system has no free socket or thread.
    public convenience init(
        replaying cassette: Cassette, _ configuration: Configuration = Configuration()
    ) throws(MockServerError) {
        try self.init(configuration)
        let player = CassettePlayer(cassette)
        let address = origin
        let core = core
        on(nil, "/*path") { [weak core] request in
            do throws(RequestMismatch) {
                return try player.respond(to: request, at: address)
            } catch {
                cassette.report("\(error)")
                core?.add(error)
                return .text("\(error)\n", status: .notFound)
            }
        }
    }
}

/// Responds to the requests of a server from the entries of a cassette.
private final class CassettePlayer: Sendable {
    private let cassette: Cassette
    private let options: Cassette.Options
    private let index: Locked<CassetteIndex>

    init(_ cassette: Cassette) {
        self.cassette = cassette
        var options = cassette.options
        options.matching.origin = false
        self.options = options
        index = Locked(CassetteIndex(cassette.state.withLock { $0.index.slots.map(\.entry) }, options: options))
    }

    func respond(to received: RecordedRequest, at address: Origin) throws(RequestMismatch) -> MockResponse {
        guard
            let request = try? HTTPRequest(
                received.method, url: address.description + received.target, headers: received.headers,
                body: .bytes(received.body))
        else { return .problem(.badRequest, "the target of the request is invalid") }
        let recorded = HARDocument.Request(
            request, body: received.body, redaction: options.redaction, opaqueBodies: .kept)
        let shown = CassetteRequest(recorded, options.matching, options.redaction)
        guard let slot = index.withLock({ $0.take(shown) }) else {
            throw index.withLock { $0 }.mismatch(shown, options.redaction)
        }
        cassette.state.withLock { $0.index.markUsed(slot.number) }
        return response(slot.entry, to: request, at: address)
    }

    private func response(_ entry: HARDocument.Entry, to request: HTTPRequest, at address: Origin) -> MockResponse {
        let status = entry.response.status
        guard (200...599).contains(status) else { return MockResponse().reset(at: .beforeHead) }
        guard let data = try? entry.response.content.data() ?? Data() else {
            return .problem(.internalServerError, "the body of the entry is not Base64")
        }
        let replay = CassetteReplay(entry: entry)
        var headers = replay.headers(for: request.method, status, count: data.count).endToEnd
        headers.remove(.contentLength)
        if let location = headers[.location], let recorded = (try? URLParts(entry.request.url))?.origin.description,
            location.begins(with: recorded + "/")
        {
            headers[.location] = address.description + String(Substring(location.utf8.dropFirst(recorded.utf8.count)))
        }
        let pieces = replay.pieces(of: data)
        var response = MockResponse(
            status: HTTPStatus(status), headers: headers, body: pieces.count > 1 ? .chunks(pieces) : .data(data))
        for interim in replay.interim { response = response.after(interim.status, headers: interim.headers) }
        if request.method != .head { response = response.with(trailers: replay.trailers) }
        guard entry.response.error != nil else { return response }
        var broken = response
        broken.body = .chunks(pieces)
        return broken.framed(as: .unendedChunks)
    }
}
