// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// Starts and cancels tasks of a background session.
protocol BackgroundTasks: Sendable {
    /// Starts the task of a transfer that the ledger already contains. The body of `request` is empty: an upload sends
    /// the file of the transfer.
    func start(_ request: HTTPRequest, _ transfer: BackgroundTransfer) throws(NetworkError)
    /// Cancels the task of a transfer, if the system has one.
    func cancel(_ id: UUID)
}

/// Performs the exchanges of calls with `RequestOptions.backgroundIdentifier`.
struct BackgroundCalls: Sendable {
    /// The maximum number of bytes of a request body in memory, which is written to a file.
    static let bodyLimit = 16 << 20
    private static let identifierLimit = 200
    /// The number of times that a call starts a transfer again which the system has lost.
    private static let mostStarts = 3

    let store: BackgroundStore
    let tasks: any BackgroundTasks

    /// Returns the response of the exchange: of one that an earlier launch has started, or of a new one.
    func response(
        to request: HTTPRequest, in context: ExchangeContext, identifier: String
    ) async throws -> HTTPResponse {
        do {
            guard !identifier.isEmpty, identifier.utf8.count <= Self.identifierLimit else {
                throw NetworkError(
                    .invalidRequest, detail: "The identifier of a background call has \(identifier.utf8.count) bytes.",
                    hint: "Use 1 to \(Self.identifierLimit) bytes.")
            }
            guard store.begin(call: identifier) else {
                throw NetworkError(
                    .invalidRequest, detail: "Another call uses the background identifier.",
                    hint: "Wait for that call, or use an identifier for each file.")
            }
            defer { store.end(call: identifier) }
            return try await exchange(request, context, identifier)
        } catch {
            var failure = NetworkError(error)
            if failure.request == nil { failure.request = NetworkError.RequestLine(request) }
            throw failure
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ context: ExchangeContext, _ identifier: String
    ) async throws -> HTTPResponse {
        var isOwn = false
        for _ in 0..<Self.mostStarts {
            let id: UUID
            switch BackgroundStep(store.entry(ofCall: identifier), for: request, isOwn: isOwn) {
            case .deliver(let entry): return try deliver(entry, context)
            case .wait(let known): id = known
            case .start(let old):
                if let old { discard(old) }
                id = try start(request, identifier)
                isOwn = true
            }
            try await wait(for: id, context)
        }
        // The last start has ended, or the system has lost each of them.
        if case .deliver(let entry) = BackgroundStep(store.entry(ofCall: identifier), for: request, isOwn: isOwn) {
            return try deliver(entry, context)
        }
        throw NetworkError(
            .connectionLost(.requestMayHaveArrived),
            detail: "The system lost the background transfer \(Self.mostStarts) times.", hint: "Try again later.")
    }

    private func start(_ request: HTTPRequest, _ identifier: String) throws(NetworkError) -> UUID {
        let id = UUID()
        let kind: BackgroundTransfer.Kind
        switch request.body.kind {
        case .empty: kind = .download(to: store.files.downloadPath(id))
        case .file(let path): kind = .upload(from: path)
        default:
            guard let data = request.body.data, data.count <= Self.bodyLimit else {
                throw NetworkError(
                    .invalidRequest,
                    detail: "A background call can send a file, or at most 16 MiB from memory.",
                    hint: "Write the body to a file, and send .file(path).")
            }
            kind = .upload(from: try store.files.keepBody(data, of: id))
        }
        var tags = [BackgroundTransfer.callTag: identifier]
        if let range = request.headers[.range] { tags[BackgroundTransfer.rangeTag] = range }
        let transfer = BackgroundTransfer(request, kind: kind, tags: tags, id: id)
        _ = try transfer.text()
        try store.start(transfer)
        do throws(NetworkError) {
            var head = request
            head.body = .empty
            try tasks.start(head, transfer)
        } catch {
            store.forget(id)
            throw error
        }
        return id
    }

    private func wait(for id: UUID, _ context: ExchangeContext) async throws {
        do {
            _ = try await store.ended(id, until: context.deadline, on: context.time)
        } catch is DeadlinePassed {
            let isTotal = context.totalDeadline.hasPassed(at: context.time.now)
            var failure = NetworkError.timeout(isTotal ? .total : .attempt, context.timeouts)
            failure.hint = "The transfer continues. Make the same call again to receive its response."
            throw failure
        } catch is CancellationError {
            tasks.cancel(id)
            throw NetworkError(.cancelled)
        }
    }

    private func discard(_ entry: BackgroundLedger.Entry) {
        if entry.state == .running { tasks.cancel(entry.transfer.id) }
        store.forget(entry.transfer.id)
    }

    /// Returns the response of a transfer that has ended. The ledger keeps the transfer until its body has been read.
    private func deliver(_ entry: BackgroundLedger.Entry, _ context: ExchangeContext) throws -> HTTPResponse {
        guard case .finished(let outcome) = entry.state else { throw NetworkError(.badResponse) }
        let (store, id) = (store, entry.transfer.id)
        guard let status = outcome.status, HTTPStatus(status).isSuccess, let path = outcome.file else {
            // The response is small, or there is none: the call that receives it decides what follows.
            defer { try? store.acknowledge(id) }
            return try outcome.response(limit: context.limits.responseBody)
        }
        let file: BackgroundFileBody
        do throws(NetworkError) {
            file = try BackgroundFileBody(path)
        } catch {
            store.forget(id)
            throw error
        }
        var response = HTTPResponse(
            status: HTTPStatus(status), headers: outcome.fields,
            body: ResponseBody(file, limit: context.limits.responseBody, length: file.length))
        response.body = response.body.onEnd { end in
            if case .complete = end { try? store.acknowledge(id) }
        }
        return response
    }
}

/// Decides what a call does with the transfer that an earlier call with its identifier has left.
enum BackgroundStep: Equatable {
    /// Start a transfer, in place of this one.
    case start(insteadOf: BackgroundLedger.Entry?)
    /// The transfer is running.
    case wait(UUID)
    /// The transfer has ended.
    case deliver(BackgroundLedger.Entry)

    /// - `isOwn`: whether this call has started the transfer. The failure of an earlier one is not reported: the call
    ///   starts another transfer.
    init(_ entry: BackgroundLedger.Entry?, for request: HTTPRequest, isOwn: Bool) {
        guard let entry else {
            self = .start(insteadOf: nil)
            return
        }
        // An earlier call may have asked for another part of the file, or may have sent a body.
        let isSame = entry.transfer.range == request.headers[.range] && entry.transfer.isUpload == !request.body.isEmpty
        switch entry.state {
        case .running where isSame: self = .wait(entry.transfer.id)
        case .finished(let outcome) where isSame && (isOwn || outcome.failure == nil): self = .deliver(entry)
        default: self = .start(insteadOf: entry)
        }
    }
}

extension BackgroundTransfer {
    /// The tag with the identifier of a call.
    static let callTag = "curlew.call"
    /// The tag with the part of the file that a call asks for.
    static let rangeTag = "curlew.range"

    /// The identifier of the call that has started the transfer; nil for a transfer of `BackgroundSession.start`.
    var callIdentifier: String? { tags[Self.callTag] }
    var range: String? { tags[Self.rangeTag] }

    var isUpload: Bool {
        if case .upload = kind { true } else { false }
    }
}

/// The content of a file as a response body, read in pieces of 256 KiB.
private final class BackgroundFileBody: ResponseBodySource {
    private static let piece = 256 << 10

    let length: Int64
    private let handle: Locked<FileHandle?>
    private let path: String

    init(_ path: String) throws(NetworkError) {
        self.path = path
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            length = Int64(clamping: try file.seekToEnd())
            try file.seek(toOffset: 0)
            handle = Locked(file)
        } catch {
            throw NetworkError(
                .storage, detail: "The file \(path) cannot be read: \(error)",
                hint: "Make the call again.", underlying: error)
        }
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        return try handle.withLock { file in
            guard let data = try file?.read(upToCount: Self.piece), !data.isEmpty else {
                try? file?.close()
                file = nil
                return nil
            }
            return data
        }
    }

    func cancel() {
        handle.withLock { file in
            try? file?.close()
            file = nil
        }
    }
}
