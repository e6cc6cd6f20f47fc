// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The bodies of one request on the wire. The values arrive while the bodies are sent and read, and are redacted when
/// they are complete.
final class RecordedBodies: Sendable {
    /// The key under which the context of a request has the values: one for each recorder, because recorders differ in
    /// their redaction and their limits.
    enum Key: FactKey {
        static let defaultValue: [RecordedBodies] = []
    }

    struct Content: Sendable {
        var request: RecordedBody?
        var response: RecordedBody?
        /// The number of bytes of the response body that have been read.
        var received: Int64?
        /// The reason why the response body could not be read to its end.
        var failure: String?
    }

    private let recorder: FlightRecorder
    private let call: UInt64
    private let secrets: DeclaredSecrets
    private let state = Locked(Content())

    init(_ recorder: FlightRecorder, call: UInt64, secrets: DeclaredSecrets) {
        self.recorder = recorder
        self.call = call
        self.secrets = secrets
    }

    var content: Content { state.withLock { $0 } }

    /// Returns the bodies that `recorder` itself keeps of the request of a context; nil if there are none.
    static func of(_ recorder: FlightRecorder, in context: ExchangeContext) -> RecordedBodies? {
        context.facts[Key.self].last { $0.recorder === recorder && $0.call == context.id }
    }

    /// Records a body that is in memory. Returns the request with a stream that is copied while it is sent, if it can
    /// be created again.
    func recording(_ request: HTTPRequest) -> HTTPRequest {
        guard !request.body.isEmpty else { return request }
        let type = request.headers[.contentType].flatMap { MediaType($0) }
        if let data = request.body.data {
            keep(data.prefix(recorder.bodies.limit + 1), type, isResponse: false)
            return request
        }
        guard case .stream(_, .always, _) = request.body.kind else { return request }
        var copy = request
        copy.body = request.body.changingChunks(length: request.body.length) { [self] next in
            let copied = CopiedBytes(limit: recorder.bodies.limit)
            return {
                guard let chunk = try await next() else {
                    self.keep(copied.data, type, isResponse: false)
                    return nil
                }
                copied.append(chunk)
                return chunk
            }
        }
        return copy
    }

    /// Records a body that is in memory. Returns a body that is copied while it is read.
    func recording(_ response: HTTPResponse) -> ResponseBody {
        let body = response.body
        let type = response.mediaType
        if let data = body.bufferedData {
            finish(data.prefix(recorder.bodies.limit + 1), Int64(data.count), type)
            return body
        }
        guard body.value == nil else { return body }
        let copied = CopiedBytes(limit: recorder.bodies.limit)
        let copy = body.changingChunks { next in
            {
                let chunk = try await next()
                if let chunk { copied.append(chunk) }
                return chunk
            }
        }
        return copy.onEnd { [self] end in
            if case .failed(let error) = end {
                let text = NetworkError(error).withholding(secrets).line(recorder.redaction)
                state.withLock { $0.failure = text }
            }
            finish(copied.data, copied.count, type)
        }
    }

    private func finish(_ data: Data, _ count: Int64, _ type: MediaType?) {
        state.withLock { $0.received = count }
        keep(data, type, isResponse: true)
    }

    /// Stores the redacted form of a body. `data` is the body up to one byte beyond the limit.
    private func keep(_ data: Data, _ type: MediaType?, isResponse: Bool) {
        let body = RecordedBody(
            data, mediaType: type, redaction: secrets.added(to: recorder.redaction),
            opaqueBodies: recorder.bodies.opaque, limit: recorder.bodies.limit)
        let isFirst = state.withLock { content in
            defer { if isResponse { content.response = body } else { content.request = body } }
            return (isResponse ? content.response : content.request) == nil
        }
        if isFirst { recorder.grow(call: call, by: (body.text?.utf8.count ?? 0) + 64) }
    }
}

/// The first bytes of a body, collected by the task that sends or reads it.
private final class CopiedBytes: Sendable {
    private let limit: Int
    private let state = Locked((data: Data(), count: Int64(0)))

    init(limit: Int) {
        self.limit = limit
    }

    var data: Data { state.withLock { $0.data } }
    var count: Int64 { state.withLock { $0.count } }

    /// Keeps the chunk up to one byte beyond the limit, so that a longer body is recognized.
    func append(_ chunk: Data) {
        state.withLock { state in
            state.count += Int64(chunk.count)
            let room = limit + 1 - state.data.count
            if room > 0 { state.data.append(chunk.prefix(room)) }
        }
    }
}
