// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// The response, or the failure, that an entry of a cassette contains.
struct CassetteReplay {
    let entry: HARDocument.Entry

    func response(to request: HTTPRequest, in context: ExchangeContext) throws(NetworkError) -> HTTPResponse {
        let status = entry.response.status
        guard (100...999).contains(status) else { throw NetworkError(recorded: entry.response.error ?? "", request) }
        let data = try entry.response.content.data() ?? Data()
        let headers = headers(for: request.method, status, count: data.count)
        if let problem = headers.problem {
            throw NetworkError(
                .badResponse, detail: "The cassette contains an invalid field: \(problem.message)",
                request: NetworkError.RequestLine(request))
        }
        let pieces = pieces(of: data)
        let failure = entry.response.error.map { NetworkError(recorded: $0, request) }
        let trailers = trailers
        for interim in interim { context.record(.interim(interim.status, interim.headers)) }
        let isWhole = pieces.count <= 1 && failure == nil
        if isWhole, !trailers.isEmpty { context.record(.trailers(trailers)) }
        let limit = context.limits.responseBody
        let body =
            isWhole
            ? ResponseBody(data, limit: limit, trailers: trailers)
            : ResponseBody(
                ReplayedBody(pieces, failure, trailers, in: context), limit: limit,
                length: headers[.contentLength] == nil ? nil : Int64(data.count))
        var response = HTTPResponse(
            status: HTTPStatus(status), headers: headers,
            body: body, version: HTTPVersion(recorded: entry.response.httpVersion), url: request.urlString,
            reasonPhrase: entry.response.statusText.isEmpty ? nil : entry.response.statusText)
        response.metrics.version = response.version
        response.metrics.firstByte = .zero
        if isWhole { response.metrics.total = .zero }
        return response
    }

    /// The recorded trailers; empty if one of them is invalid. The flight recorder has them in the facts of an entry.
    var trailers: HTTPHeaders {
        let fields = HTTPHeaders(recorded: entry.response.trailers ?? entry.facts?.trailers ?? [])
        return fields.problem == nil ? fields : [:]
    }

    /// The recorded interim responses, without invalid ones and without 101, which is final.
    var interim: [(status: HTTPStatus, headers: HTTPHeaders)] {
        (entry.response.interim ?? entry.facts?.interim ?? []).compactMap { interim in
            let fields = HTTPHeaders(recorded: interim.headers)
            guard (100...199).contains(interim.status), interim.status != 101, fields.problem == nil else { return nil }
            return (HTTPStatus(interim.status), fields)
        }
    }

    /// Returns the recorded fields. The body is decoded, and a redaction may have changed its length.
    func headers(for method: HTTPMethod, _ status: Int, count: Int) -> HTTPHeaders {
        var headers = HTTPHeaders(recorded: entry.response.headers)
        let hasContent = method != .head && status != 204 && status != 304
        if hasContent, headers.contains(.contentEncoding) {
            headers.remove(.contentEncoding)
            headers.remove(.contentLength)
        } else if hasContent, headers.contains(.contentLength), entry.response.error == nil {
            headers.set(.contentLength, "\(count)")
        }
        return headers
    }

    /// Returns the chunks of the body: the recorded ones, or the events of an event stream whose chunks are unknown.
    func pieces(of data: Data) -> [Data] {
        var (pieces, remainder) = ([Data](), data[...])
        for size in entry.response.content.chunks ?? [] where size > 0 && size <= remainder.count {
            pieces.append(remainder.prefix(size))
            remainder = remainder.dropFirst(size)
        }
        // Sizes of another program may make no sense.
        if remainder.isEmpty, pieces.count == entry.response.content.chunks?.count { return pieces }
        let type = MediaType(entry.response.content.mimeType)
        return type?.essence == MediaType.eventStream.essence ? Self.events(data) : data.isEmpty ? [] : [data]
    }

    private static func events(_ data: Data) -> [Data] {
        var pieces: [Data] = []
        var remainder = data[...]
        while let end = remainder.firstRange(of: Data("\n\n".utf8))?.upperBound {
            pieces.append(remainder[..<end])
            remainder = remainder[end...]
        }
        return remainder.isEmpty ? pieces : pieces + [remainder]
    }
}

/// Chunks of a recorded body, and then its trailers or the recorded failure.
private final class ReplayedBody: ResponseBodySource {
    private struct State {
        var remainder: ArraySlice<Data>
        var isOver = false
    }

    private let state: Locked<State>
    private let failure: NetworkError?
    private let fields: HTTPHeaders
    private let context: ExchangeContext

    init(_ pieces: [Data], _ failure: NetworkError?, _ trailers: HTTPHeaders, in context: ExchangeContext) {
        state = Locked(State(remainder: pieces[...]))
        self.failure = failure
        fields = failure == nil ? trailers : [:]
        self.context = context
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        let (piece, isFirstEnd) = state.withLock { state -> (Data?, Bool) in
            if let piece = state.remainder.popFirst() { return (piece, false) }
            defer { state.isOver = true }
            return (nil, !state.isOver)
        }
        if let piece { return piece }
        if let failure { throw failure }
        if isFirstEnd, !fields.isEmpty { context.record(.trailers(fields)) }
        return nil
    }

    func cancel() {}

    var trailers: HTTPHeaders { state.withLock { $0.isOver } ? fields : [:] }
}

extension NetworkError {
    /// Creates the error that the field `_error` of an entry describes: its label, a colon and its detail. A text of
    /// another program, such as `net::ERR_FAILED`, becomes `.connectionLost(.requestMayHaveArrived)`.
    init(recorded text: String, _ request: HTTPRequest) {
        let label = String(text.upTo(":"))
        let reason = Self.reasons[label]
        let detail = reason == nil ? text[...] : Substring(text.utf8.dropFirst(label.utf8.count + 1))
        self.init(
            reason ?? .connectionLost(.requestMayHaveArrived), detail: String(detail.trimmed()),
            request: RequestLine(request))
    }

    /// The reasons for which a transport fails, by their labels.
    private static let reasons: [String: Reason] = {
        let tls: [TLSFailure] = [
            .expired, .notYetValid, .untrusted, .wrongHost, .pinMismatch, .clientCertificate, .handshake,
        ]
        let phases: [Phase] = [.queue, .connect, .firstByte, .idle, .attempt, .total]
        let limits: [Limit] = [.responseBody, .responseHeaders, .redirects]
        let sources: [AuthFailure] = [
            .missingCredential, .sourceFailed, .signedOut, .refreshRefused, .refreshFailed, .tooManyRefreshes,
            .refused,
        ]
        let policies: [Policy] = [.overload, .shutdown, .addressPolicy, .preview, .mock, .cassette]
        let all: [Reason] =
            [
                .invalidRequest, .configuration, .encoding, .unreachable, .badResponse, .decoding, .storage,
                .interceptor, .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived),
                .proxyFailed(.unreachable), .proxyFailed(.notAuthenticated), .proxyFailed(.refused(nil)),
            ]
            + (400...599).map { .proxyFailed(.refused(HTTPStatus($0))) }
            + tls.map { .secureConnectionFailed($0) } + phases.map { .timedOut($0) }
            + limits.map { .limitExceeded($0) } + sources.map { .notAuthenticated($0) }
            + policies.map { .refused(by: $0) }
        return Dictionary(all.map { (NetworkError($0).label, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}
