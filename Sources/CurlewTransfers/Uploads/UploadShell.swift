// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Performs the actions of the machines with calls of the client.
struct UploadShell: Sendable {
    let client: APIClient
    /// The request that creates uploads.
    let route: any Route
    let options: Upload.Options
    let meter: UploadMeter
    private let acknowledgement: UploadAcknowledgement
    private var time: any TimeSource { client.configuration.time }

    init(_ client: APIClient, _ route: any Route, _ options: Upload.Options, _ meter: UploadMeter) {
        self.client = client
        self.route = route
        self.options = options
        self.meter = meter
        acknowledgement = UploadAcknowledgement(options.acknowledged)
    }

    /// Runs a machine to its end, and returns the response that completed the upload, if it arrived.
    ///
    /// - `reader`: nil for an upload without content, which joins others.
    /// - `changed`: called when the server has created the upload or begins to keep it longer.
    func run(
        _ course: inout UploadCourse, _ reader: UploadReader?, part: Int,
        changed: (UploadCourse) async throws(NetworkError) -> Void
    ) async throws(NetworkError) -> Response<Data>? {
        var event = UploadCourse.Event.begin
        var body = RequestBody.empty
        var response: Response<Data>?
        var (known, expires, position) = (course.url, course.expires, Int64(-1))
        while true {
            let action = course.handle(event, at: time.date, random: options.random())
            acknowledgement.report(part, course.confirmed)
            if course.url != known || Self.differs(course.expires, expires) {
                (known, expires) = (course.url, course.expires)
                try await changed(course)
            }
            switch action {
            case .send(let call):
                let content = call.sendsChunk ? body : call.isCreation ? RequestBody.bytes(Data()) : .empty
                do throws(NetworkError) {
                    let (reply, answer) = try await send(call, content, &course) { course throws(NetworkError) in
                        acknowledgement.report(part, course.confirmed)
                        guard course.url != known else { return }
                        known = course.url
                        try await changed(course)
                    }
                    event = .answered(reply)
                    response = call.sendsChunk || call.isCreation ? answer : nil
                } catch {
                    event = .failed(error)
                }
            case .read(let offset, let limit, let checksum):
                guard let reader else { throw NetworkError(.badResponse) }
                if offset != position { meter.move(part, to: offset) }
                let (chunk, content) = try await reader.read(at: offset, limit: limit, checksum)
                if course.plan.length == nil, chunk.isLast { meter.setTotal(offset + chunk.count) }
                body = meter.counting(content, for: part, at: offset, length: chunk.count)
                position = offset + chunk.count
                event = .read(chunk)
            case .wait(let duration):
                do {
                    try await time.sleep(for: duration)
                } catch {
                    throw NetworkError(error)
                }
                event = .waited
            case .finish:
                if reader != nil { meter.move(part, to: course.offset) }
                return response
            case .fail(let error):
                throw error
            }
        }
    }

    /// Whether an expiration has moved so far that the descriptor should say so. Relative ones move a little with each
    /// response.
    private static func differs(_ date: Date?, _ known: Date?) -> Bool {
        guard let date, let known else { return date != known }
        return abs(date.timeIntervalSince(known)) > 60
    }

    /// Asks the server what it offers; nil if it offers no protocol. Failures that may pass are repeated.
    func discover() async throws(NetworkError) -> (any UploadDialect, UploadFeatures)? {
        let call = UploadCall(method: .options, target: .endpoint, fields: [])
        var failures = 0
        while true {
            do throws(NetworkError) {
                let (reply, _) = try await send(call, .empty, .discovered)
                if let features = TusDialect.features(reply.headers) { return (TusDialect(), features) }
                if let features = DraftDialect.features(reply.headers) { return (DraftDialect(), features) }
                return nil
            } catch {
                if [400, 404, 405, 501].contains(error.statusCode) { return nil }
                failures += 1
                guard error.isRetryable, failures <= options.maximumFailures else { throw error }
                let wait = UploadCourse.pause(
                    after: failures, asked: error.retryAfter, most: options.maximumWait, options.random())
                do { try await time.sleep(for: wait) } catch { throw NetworkError(error) }
            }
        }
    }

    /// Sends the source as the content of the request itself.
    func plain(_ source: Upload.Source, _ metadata: UploadMetadata) async throws(NetworkError) -> Response<Data> {
        let type = metadata.mediaType.flatMap { MediaType($0) } ?? .octetStream
        let content: RequestContent =
            switch source.kind {
            case .file(let path): .file(path, type: type)
            case .data(let data): .data(data, type: type)
            case .stream(let length, let make): .stream(length: length, type: type, make: make)
            case .refused(let problem): throw problem
            }
        let handler = meter
        let counted = content.changingBody { body in
            handler.counting(body, for: 0, at: 0, length: body.lengthToSend)
        }
        return try await client.call(
            request(route.method, body: counted, headers: route.headers), changing: changes(isTransfer: true)
        ) { response, _ in
            Response(try await response.body.collect(), from: response)
        }
    }

    /// Sends a request of a machine. Meanwhile the machine takes the interim responses of the draft, each of which
    /// `noted` receives.
    private func send(
        _ call: UploadCall, _ body: RequestBody, _ course: inout UploadCourse,
        noted: (UploadCourse) async throws(NetworkError) -> Void
    ) async throws(NetworkError) -> (UploadReply, Response<Data>) {
        let resumption = course.dialect.resumption
        guard resumption == .draft, call.sendsChunk || call.isCreation else {
            return try await send(call, body, resumption)
        }
        let observer = ResumptionObserver()
        async let sending = send(call, body, resumption, observer)
        do {
            for await _ in observer.signals {
                guard let interim = observer.take() else { continue }
                course.note(interim, at: time.date)
                try await noted(course)
            }
            // What arrived last, before a cut.
            if let interim = observer.take() { course.note(interim, at: time.date) }
            return try await sending
        } catch {
            throw NetworkError(error)
        }
    }

    /// - `observer`: receives the interim responses with status 104.
    func send(
        _ call: UploadCall, _ body: RequestBody, _ resumption: Upload.Resumption,
        _ observer: ResumptionObserver? = nil
    ) async throws(NetworkError) -> (UploadReply, Response<Data>) {
        defer { observer?.end() }
        var headers = call.isCreation ? route.headers : HTTPHeaders()
        for field in call.fields {
            // The media type of the caller describes the complete content, which only the draft announces.
            let isOfCaller = field.name == .contentType || field.name == .contentDisposition
            if resumption == .draft, isOfCaller, headers.contains(field.name) { continue }
            headers[field.name] = field.value
        }
        let content: RequestContent = body.isEmpty ? .none : RequestContent(.octetStream, contentType: "") { body }
        let request: Request<HTTPResponse>
        switch call.target {
        case .endpoint: request = self.request(call.method, body: content, headers: headers)
        case .upload(let url):
            var other = Request<HTTPResponse>(call.method, url: url, body: content, headers: headers, name: route.name)
            other.options = route.options
            request = other
        }
        var changes = changes(isTransfer: call.sendsChunk, isForeign: isForeign(call.target))
        if let observer { changes.observers = [observer] }
        return try await client.call(request, changing: changes) { response, _ in
            let reply = UploadReply(status: response.status, headers: response.headers, url: response.url)
            return (reply, Response(try await response.body.collect(), from: response))
        }
    }

    private func request(
        _ method: HTTPMethod, body: RequestContent, headers: HTTPHeaders
    ) -> Request<HTTPResponse> {
        var request = Request<HTTPResponse>(
            method, route.path, query: route.query, body: body, headers: headers, name: route.name)
        request.options = route.options
        request.baseURL = route.baseURL
        return request
    }

    /// Whether the server has placed the upload at another origin than that of the endpoint.
    private func isForeign(_ target: UploadCall.Target) -> Bool {
        guard case .upload(let url) = target else { return false }
        return (try? URLParts(url))?.origin != (route.baseURL ?? client.baseURL)?.origin
    }

    private func changes(isTransfer: Bool, isForeign: Bool = false) -> APIClient.CallChanges {
        var changes = APIClient.CallChanges()
        changes.options = { options in
            // The machine needs to know every status that is not a success.
            options.acceptedStatuses = []
            // Only stalls end a transfer: how long it takes depends on the source.
            if isTransfer { options.timeouts.total = nil }
            // A credential that the call requires belongs to the origin of the endpoint.
            if isForeign, options.authentication?.isDemanding == true { options.authentication = nil }
        }
        return changes
    }
}
