// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// Records one exchange of a cassette: sends the request, and stores the entry when the response is complete.
final class CassetteRecording: Sendable {
    private let cassette: Cassette
    private let message: HTTPRequest
    private let redaction: Redaction
    private let context: ExchangeContext
    private let request: HARDocument.Request
    /// The method and the URL, for problems.
    private let line: String
    private let index: Int
    private let date: Date
    private let start: SystemTime.Instant
    private let state = Locked(State())

    private struct State {
        var interim: [HARDocument.Interim] = []
        /// The head of the response, and when it arrived.
        var response: HARDocument.Response?
        var head: SystemTime.Instant?
        var data = Data()
        var chunks: [Int] = []
        /// Whether the entry was stored, or the recording was abandoned.
        var isDone = false
    }

    private static let maximumInterim = 100

    /// Throws if the body of the request must not be stored.
    init(
        _ message: HTTPRequest, body: Data, on cassette: Cassette, _ redaction: Redaction, _ context: ExchangeContext
    ) throws {
        self.message = message
        self.cassette = cassette
        self.redaction = redaction
        self.context = context
        date = context.time.date
        start = context.time.now
        let type = message.headers[.contentType].flatMap { MediaType($0) }
        let request = HARDocument.Request(
            message, body: body, redaction: redaction, opaqueBodies: cassette.options.opaqueBodies(of: type))
        self.request = request
        line = "\(request.method) \(request.url)"
        guard message.body.isEmpty || request.postData?.text != nil else {
            throw cassette.refusal("request", type, message, line)
        }
        index = cassette.reserve()
    }

    /// Sends the request and returns the response, whose body is stored while it is read.
    func send(over transport: any Transport) async throws -> HTTPResponse {
        var context = context
        let outer = context.onInterim
        context.onInterim = { [self] status, headers in
            outer?(status, headers)
            let response = HARDocument.Interim(
                time: elapsed(since: start), status: status.code, headers: .init(headers, redaction))
            state.withLock { if $0.interim.count < Self.maximumInterim { $0.interim.append(response) } }
        }
        let response: HTTPResponse
        do {
            response = try await transport.send(message, in: context)
        } catch {
            let failure = NetworkError(error)
            if !failure.isCancelled { store(HARDocument.Response(failure, redaction: redaction)) }
            throw error
        }
        return try keep(response)
    }

    private func keep(_ response: HTTPResponse) throws -> HTTPResponse {
        var head = HARDocument.Response(response, redaction: redaction)
        // It differs with each recording.
        head.transferSize = nil
        state.withLock {
            $0.head = context.time.now
            $0.response = head
        }
        let type = response.mediaType
        if let data = response.body.bufferedData {
            try add(data)
            try finish(type, trailers: response.body.trailers)
            return response
        }
        guard response.body.value == nil, !response.headers.contains(.contentEncoding),
            content(Data("{}".utf8), type) != nil
        else {
            response.body.cancel()
            throw cassette.refusal("response", type, message, line)
        }
        var copy = response
        let body = response.body
        let recorded = body.changingChunks { [self] next in
            {
                let chunk = try await next()
                if let chunk { try self.add(chunk) } else { try self.finish(type, trailers: body.trailers) }
                return chunk
            }
        }
        copy.body = recorded.onEnd { [self] end in
            switch end {
            case .complete: break
            case .failed(let error): try? finish(type, NetworkError(error))
            // An event stream ends where its reader leaves it.
            case .dropped: try? finish(type, type?.essence == MediaType.eventStream.essence ? nil : .init(.cancelled))
            }
        }
        return copy
    }

    private func add(_ chunk: Data) throws {
        let fits = state.withLock { state in
            guard state.data.count + chunk.count <= cassette.options.maximumBodyBytes else {
                state.isDone = true
                return false
            }
            state.data += chunk
            state.chunks.append(chunk.count)
            return true
        }
        guard !fits else { return }
        let error = cassette.tooLong("response", message)
        cassette.report("\(line): \(error.detail)")
        throw error
    }

    /// Stores the entry. Throws if its body must not be stored.
    private func finish(_ type: MediaType?, _ failure: NetworkError? = nil, trailers: HTTPHeaders = [:]) throws {
        let known = state.withLock { state -> State? in
            defer { state.isDone = true }
            return state.isDone ? nil : state
        }
        guard let known, var response = known.response else { return }
        if let failure, failure.isCancelled {
            return cassette.report(
                "\(line): the body of the response was not read to its end, so it was not recorded.")
        }
        guard let content = content(known.data, type), let text = content.text else {
            throw cassette.refusal("response", type, message, line)
        }
        response.content.text = text
        response.content.encoding = content.encoding
        response.content.size = Int64(content.encoding == nil ? text.utf8.count : known.data.count)
        // A redaction moves the bytes, so the chunks are known only for a body without secrets.
        let isRecords =
            [MediaType.eventStream, .jsonLines].contains { $0.essence == type?.essence }
            || type?.essence == "application/x-ndjson"
        if isRecords, known.chunks.count > 1, text.utf8.elementsEqual(known.data) {
            response.content.chunks = known.chunks
        }
        if !trailers.isEmpty { response.trailers = .init(trailers, redaction) }
        response.error = failure?.line(redaction)
        store(response)
    }

    /// Returns the form in which a body is stored; nil if it must not be stored.
    private func content(_ data: Data, _ type: MediaType?) -> RecordedBody? {
        let body = RecordedBody(
            data, mediaType: type, redaction: redaction, opaqueBodies: cassette.options.opaqueBodies(of: type))
        return body.text == nil ? nil : body
    }

    private func store(_ response: HARDocument.Response) {
        var response = response
        let (interim, head) = state.withLock { ($0.interim, $0.head) }
        if !interim.isEmpty { response.interim = interim }
        let wait = head.map { Self.milliseconds(start.duration(to: $0)) } ?? elapsed(since: start)
        let timings = HARDocument.Timings(send: 0, wait: wait, receive: head.map { elapsed(since: $0) } ?? 0)
        cassette.add(
            HARDocument.Entry(startedDateTime: date, request: request, response: response, timings: timings),
            at: index)
    }

    private func elapsed(since start: SystemTime.Instant) -> Double {
        Self.milliseconds(start.duration(to: context.time.now))
    }

    /// Whole milliseconds, so that two recordings differ in few lines.
    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.wholeNanoseconds / 1_000_000)
    }
}

extension Cassette.Options {
    /// Returns the treatment of a body of this type whose secrets cannot be recognized.
    fileprivate func opaqueBodies(of type: MediaType?) -> HARDocument.OpaqueBodies {
        opaqueTypes.contains { (type ?? .octetStream).matches($0) } ? .kept : .omitted
    }
}

extension Cassette {
    /// Returns the index of the next recorded entry. Entries are stored in the order of their requests.
    fileprivate func reserve() -> Int {
        state.withLock { state in
            state.recorded.append(nil)
            return state.recorded.count - 1
        }
    }

    fileprivate func add(_ entry: HARDocument.Entry, at index: Int) {
        state.withLock { state in
            state.recorded[index] = entry
            state.recordedCount += 1
            state.hasUnsaved = true
        }
    }

    /// Returns the error for a body that must not be stored, and stores it as a problem.
    fileprivate func refusal(
        _ message: String, _ type: MediaType?, _ request: HTTPRequest, _ line: String
    ) -> NetworkError {
        let shown = type?.essence.printable ?? "an unknown type"
        let error = NetworkError(
            .refused(by: .cassette),
            detail:
                "The body of the \(message) (\(shown)) is not recorded, because secrets cannot be recognized in it.",
            hint: "If such bodies contain no secrets, add the media type to Cassette.Options.opaqueTypes.",
            request: NetworkError.RequestLine(request))
        report("\(line): \(error.detail)")
        return error
    }
}
