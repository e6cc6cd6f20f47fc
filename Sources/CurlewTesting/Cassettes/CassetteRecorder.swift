// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// Records one exchange of a cassette: sends the request, and stores the entry when the response is complete.
struct CassetteRecorder: Sendable {
    let cassette: Cassette
    let request: CassetteRequest
    let redactor: CassetteRedactor
    let context: ExchangeContext

    /// Sends the request and returns the response, whose body is stored while it is read.
    func record(_ message: HTTPRequest, body: Data, over transport: any Transport) async throws -> HTTPResponse {
        var sent = HARDocument.Request(
            method: message.method.rawValue, url: redactor.url(message.urlString),
            headers: redactor.fields(message.headers),
            bodySize: message.body.isEmpty ? 0 : Int64(body.count))
        sent.queryString = CassetteURL(sent.url).items
        if !message.body.isEmpty {
            guard let stored = redactor.stored(body, request.mediaType) else {
                throw refusal("request", request.mediaType, message)
            }
            sent.postData = HARDocument.PostData(
                mimeType: message.headers[.contentType] ?? "", text: stored.text, encoding: stored.encoding)
        }
        let interim = Locked<[HARDocument.Interim]>([])
        let draft = Draft(
            number: cassette.nextNumber(), date: context.time.date, start: context.time.now, request: sent,
            interim: interim)
        var response: HTTPResponse
        do {
            response = try await transport.send(message, in: watching(interim, since: draft.start))
        } catch {
            let failure = NetworkError(error)
            if !failure.isCancelled { add(failure, draft) }
            throw error
        }
        return try keep(&response, draft, of: message)
    }

    /// Returns the context with a receiver of interim responses.
    private func watching(_ interim: Locked<[HARDocument.Interim]>, since start: MonotonicInstant) -> ExchangeContext {
        var context = context
        let (redactor, time, outer) = (redactor, context.time, context.onInterim)
        context.onInterim = { status, headers in
            outer?(status, headers)
            let elapsed = Self.milliseconds(start.duration(to: time.now))
            let response = HARDocument.Interim(
                time: elapsed, status: status.code, headers: redactor.fields(headers))
            interim.withLock { if $0.count < Self.mostInterim { $0.append(response) } }
        }
        return context
    }

    /// The maximum number of interim responses that are recorded.
    private static let mostInterim = 100

    /// The parts of an entry that are known before the response.
    struct Draft: Sendable {
        let number: Int
        let date: Date
        let start: MonotonicInstant
        let request: HARDocument.Request
        let interim: Locked<[HARDocument.Interim]>
        var head: MonotonicInstant?
    }

    private func keep(_ response: inout HTTPResponse, _ draft: Draft, of message: HTTPRequest) throws -> HTTPResponse {
        var draft = draft
        draft.head = context.time.now
        let head = Head(response, redactor)
        if let data = response.body.bufferedData {
            guard data.count <= cassette.options.maximumBodyBytes else { throw cassette.tooLong("response", message) }
            guard add(head, data, [], response.body.trailers, draft, nil) else {
                throw refusal("response", response.mediaType, message)
            }
            return response
        }
        let isCoded = response.headers.contains(.contentEncoding)
        guard response.body.value == nil, !isCoded, !redactor.refuses(response.mediaType) else {
            response.body.cancel()
            throw refusal("response", response.mediaType, message)
        }
        let tape = BodyTape(recorder: self, head: head, draft: draft, message: message)
        let body = response.body.onEnd { if case .dropped = $0 { tape.drop() } }
        response.body = ResponseBody(TapedChunks(body: body, tape: tape), watching: body)
        return response
    }

    /// The redacted head of a response.
    struct Head: Sendable {
        let response: HARDocument.Response
        let mediaType: MediaType?

        init(_ response: HTTPResponse, _ redactor: CassetteRedactor) {
            mediaType = response.mediaType
            self.response = HARDocument.Response(
                status: response.status.code, statusText: response.reasonPhrase.map(redactor.text) ?? "",
                httpVersion: "\(response.version)", headers: redactor.fields(response.headers),
                content: HARDocument.Content(size: 0, mimeType: response.headers[.contentType] ?? ""),
                redirectURL: response.headers[.location].map(redactor.url) ?? "")
        }

        /// Whether the chunks of the body are kept, because they are records.
        var keepsChunks: Bool {
            guard let essence = mediaType?.essence else { return false }
            return [MediaType.eventStream.essence, MediaType.jsonLines.essence, "application/x-ndjson"]
                .contains(essence)
        }
    }

    /// Stores the entry of a response. Returns false if its body must not be stored.
    func add(
        _ head: Head, _ data: Data, _ chunks: [Int], _ trailers: HTTPHeaders, _ draft: Draft, _ failure: NetworkError?
    ) -> Bool {
        guard let stored = redactor.stored(data, head.mediaType) else { return false }
        var response = head.response
        response.content.text = stored.text
        response.content.encoding = stored.encoding
        response.content.size = Int64(stored.encoding == nil ? stored.text.utf8.count : data.count)
        // A redaction moves the bytes, so the chunks are known only for a body without secrets.
        if head.keepsChunks, chunks.count > 1, stored.text.utf8.elementsEqual(data) {
            response.content.chunks = chunks
        }
        if !trailers.isEmpty { response.trailers = redactor.fields(trailers) }
        response.error = failure.map { CassetteFailure.text(of: $0, redactor) }
        add(response, draft)
        return true
    }

    private func add(_ failure: NetworkError, _ draft: Draft) {
        var response = HARDocument.Response(failure)
        response.error = CassetteFailure.text(of: failure, redactor)
        add(response, draft)
    }

    private func add(_ response: HARDocument.Response, _ draft: Draft) {
        var response = response
        let interim = draft.interim.withLock { $0 }
        if !interim.isEmpty { response.interim = interim }
        let now = context.time.now
        let head = draft.head ?? now
        let timings = HARDocument.Timings(
            send: 0, wait: Self.milliseconds(draft.start.duration(to: head)),
            receive: Self.milliseconds(head.duration(to: now)))
        let entry = HARDocument.Entry(
            startedDateTime: draft.date, request: draft.request, response: response, timings: timings)
        cassette.add(entry, number: draft.number)
    }

    /// Whole milliseconds, so that two recordings differ in few lines.
    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.wholeNanoseconds / 1_000_000)
    }

    func refusal(_ message: String, _ type: MediaType?, _ request: HTTPRequest) -> NetworkError {
        let shown = type?.essence.printable ?? "an unknown type"
        let error = NetworkError(
            .refused(by: .cassette),
            detail:
                "The body of the \(message) (\(shown)) is not recorded, because secrets cannot be recognized in it.",
            hint: "If such bodies contain no secrets, add the media type to Cassette.Options.opaqueTypes.",
            request: NetworkError.RequestLine(request))
        cassette.report("\(self.request.line): \(error.detail)")
        return error
    }
}

extension CassetteURL {
    /// The decoded items of the query.
    var items: [HARDocument.NameValue] {
        CassetteItem.items(of: query).map { HARDocument.NameValue(name: $0.name, value: $0.value) }
    }
}

extension Cassette {
    /// Returns the number of the next request that is recorded.
    func nextNumber() -> Int {
        state.withLock { state in
            state.requests += 1
            return state.requests
        }
    }

    func add(_ entry: HARDocument.Entry, number: Int) {
        state.withLock { state in
            guard state.recorded.count < options.maximumEntries else {
                state.add(problem: "More than \(options.maximumEntries) exchanges were recorded. The rest is lost.")
                return
            }
            state.recorded.append((number, entry))
            state.hasUnsaved = true
        }
    }
}
