// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// The bytes of a body that the caller reads, up to the limit of the cassette.
final class BodyTape: Sendable {
    private let recorder: CassetteRecorder
    private let head: CassetteRecorder.Head
    private let draft: CassetteRecorder.Draft
    private let message: HTTPRequest
    private let content = Locked(Content())

    private struct Content {
        var data = Data()
        var chunks: [Int] = []
        var isDone = false
    }

    init(
        recorder: CassetteRecorder, head: CassetteRecorder.Head, draft: CassetteRecorder.Draft, message: HTTPRequest
    ) {
        self.recorder = recorder
        self.head = head
        self.draft = draft
        self.message = message
    }

    func add(_ chunk: Data) throws {
        let limit = recorder.cassette.options.maximumBodyBytes
        let fits = content.withLock { content in
            guard content.data.count + chunk.count <= limit else {
                content = Content(isDone: true)
                return false
            }
            content.data += chunk
            if head.keepsChunks { content.chunks.append(chunk.count) }
            return true
        }
        guard fits else {
            let error = recorder.cassette.tooLong("response", message)
            recorder.cassette.report("\(recorder.request.line): \(error.detail)")
            throw error
        }
    }

    /// Stores the entry. Throws if its body must not be stored.
    func finish(_ failure: NetworkError? = nil, trailers: HTTPHeaders = [:]) throws {
        guard let content = take() else { return }
        guard failure?.isCancelled != true else { return abandon() }
        guard recorder.add(head, content.data, content.chunks, trailers, draft, failure) else {
            throw recorder.refusal("response", head.mediaType, message)
        }
    }

    /// Ends the recording of a body that the caller has left.
    func drop() {
        guard let content = take() else { return }
        guard head.mediaType?.essence == MediaType.eventStream.essence else { return abandon() }
        if !recorder.add(head, content.data, content.chunks, [:], draft, nil) { abandon() }
    }

    private func abandon() {
        recorder.cassette.report(
            "\(recorder.request.line): the body of the response was not read to its end, so it was not recorded.")
    }

    private func take() -> Content? {
        content.withLock { content in
            guard !content.isDone else { return nil }
            defer { content = Content(isDone: true) }
            return content
        }
    }
}

/// The chunks of a body, each stored on a tape before the caller receives it.
struct TapedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: ResponseBody
    let tape: BodyTape

    func makeAsyncIterator() -> Iterator { Iterator(body: body, tape: tape) }

    struct Iterator: AsyncIteratorProtocol {
        private let body: ResponseBody
        private var base: ResponseBody.Iterator
        private let tape: BodyTape

        init(body: ResponseBody, tape: BodyTape) {
            self.body = body
            base = body.makeAsyncIterator()
            self.tape = tape
        }

        mutating func next() async throws -> Data? {
            let chunk: Data?
            do {
                chunk = try await base.next()
            } catch {
                try? tape.finish(NetworkError(error))
                throw error
            }
            guard let chunk else {
                try tape.finish(trailers: body.trailers)
                return nil
            }
            try tape.add(chunk)
            return chunk
        }
    }
}
