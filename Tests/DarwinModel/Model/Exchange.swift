// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import Foundation

/// One request and its response, as Darwin performs them, over `CurlTransport`.
extension URLSessionTask {
    func exchange() async throws {
        guard var request = originalRequest else { return }
        while true {
            let response = try await send(request)
            guard let head = HTTPURLResponse(response, url: request.url) else { throw URLError(.badServerResponse) }
            if let next = request.redirected(by: head) {
                let chosen: URLRequest?? = await ask { (delegate: SessionDelegate, session, reply) in
                    delegate.urlSession(
                        session, task: self, willPerformHTTPRedirection: head, newRequest: next,
                        completionHandler: reply)
                }
                if let next = chosen ?? next {
                    request = next
                    continue
                }
            }
            if response.status == .unauthorized { try await declineAccount(head) }
            return try await receive(response, head)
        }
    }

    /// Darwin asks for credentials if it knows the scheme; the response is delivered if there are none.
    private func declineAccount(_ head: HTTPURLResponse) async throws {
        let schemes = ["basic", "digest", "ntlm", "negotiate"]
        let field = (head.value(forHTTPHeaderField: "WWW-Authenticate") ?? "").lowercased()
        guard schemes.contains(where: field.hasPrefix) else { return }
        let space = URLProtectionSpace(host: head.url?.host ?? "", NSURLAuthenticationMethodHTTPBasic)
        if case .cancelAuthenticationChallenge? = await answer(to: space, failures: 0)?.0 { throw URLError(.cancelled) }
    }

    private func send(_ request: URLRequest) async throws -> HTTPResponse {
        let message = try message(request)
        var wire = try await agreedWire(for: request)
        do {
            return try await send(message, over: wire)
        } catch let error as NetworkError where error.reason == .proxyFailed(.notAuthenticated) && wire.user == nil {
            let space = URLProtectionSpace(host: "proxy", NSURLAuthenticationMethodHTTPBasic, isProxy: true)
            guard case (.useCredential, let credential?)? = await answer(to: space, failures: 0) else { throw error }
            (wire.user, wire.password) = (credential.user, credential.password)
            return try await send(message, over: wire)
        } catch let error as NetworkError {
            guard case .connectionLost = error.reason, let partial = self.partial else { throw error }
            // HEAD and PATCH would follow, although no caller has asked for them; the first of them tells.
            let url = "\(message.origin.scheme)://\(message.origin.authority)\(partial)"
            return try await send(HTTPRequest(.head, url: url), over: wire)
        }
    }

    private func send(_ message: HTTPRequest, over wire: URLSession.Wire) async throws -> HTTPResponse {
        var options = RequestOptions()
        (options.streaming, options.skipsContentDecoding) = (true, true)
        let limits = Limits(headerBytes: 1 << 20, headerCount: 10_000, responseBody: .max, decodedRatio: .max)
        var context = ExchangeContext(options: options, timeouts: .none, limits: limits)
        context.onInterim = { [self] status, headers in
            if status.code == 104, self is URLSessionUploadTask, session.behaviour.resumesUploads {
                self.partial = headers[.location]
            }
            let head = HTTPResponse(status: status, headers: headers, url: message.urlString)
            guard let head = HTTPURLResponse(head, url: originalRequest?.url) else { return }
            tell { $0.urlSession($1, task: self, didReceiveInformationalResponse: head) }
        }
        let response = try await session.transport(wire).send(message, in: context)
        var metrics = response.metrics
        metrics.version = response.version
        self.metrics = metrics
        return response
    }

    /// The request with what Darwin adds to it.
    private func message(_ request: URLRequest) throws -> HTTPRequest {
        var headers = HTTPHeaders()
        func add(_ name: String, _ value: String) {
            if !headers.contains(HTTPField.Name(name)) { headers.append(HTTPField.Name(name), value) }
        }
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) { add(name, value) }
        for (name, value) in session.configuration.httpAdditionalHeaders ?? [:] { add("\(name)", "\(value)") }
        add("Accept", "*/*")
        add("Accept-Encoding", request.url?.scheme == "https" ? "gzip, deflate, br" : "gzip, deflate")
        add("Accept-Language", "en-US,en;q=0.9")
        add("User-Agent", "Model CFNetwork/1 Darwin/1")
        if self is URLSessionUploadTask, session.behaviour.resumesUploads {
            add("Upload-Draft-Interop-Version", "6")
            add("Upload-Complete", "?1")
        }
        let length = headers[.contentLength].flatMap { Int64($0) }
        headers.remove(.contentLength)
        var body = RequestBody.empty
        switch content {
        case .none: break
        case .data(let data): body = counted(.bytes(data), Int64(data.count))
        case .file(let path):
            let size = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
            body = counted(.file(path), size)
        case .stream: body = .stream(length: length, replay: .always) { self.chunks(length) }
        }
        if !body.isEmpty { add("Content-Type", "application/x-www-form-urlencoded") }
        guard let url = request.url else { throw URLError(.badURL) }
        return try HTTPRequest(
            HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url.absoluteString, headers: headers, body: body)
    }

    private func counted(_ body: RequestBody, _ length: Int64) -> RequestBody {
        body.counted(length: length) { [self] in
            self.sent = 0
            return { [self] count in count.map { tellSent($0, of: length) } }
        }
    }

    private func tellSent(_ count: Int, of length: Int64) {
        let total = state.withLock { state in
            state.sent += Int64(count)
            return state.sent
        }
        tell {
            $0.urlSession(
                $1, task: self, didSendBodyData: Int64(count), totalBytesSent: total, totalBytesExpectedToSend: length)
        }
    }

    /// The body from a stream, which the delegate gives each time that the request is sent.
    private func chunks(_ length: Int64?) -> RequestBody.Chunks {
        let source = Locked<InputStream?>(nil)
        return RequestBody.Chunks(
            AsyncThrowingStream { [self] in
                if source.withLock({ $0 == nil }) {
                    let stream = try await newStream()
                    source.withLock { $0 = stream.value }
                }
                guard let stream = source.withLock({ $0.map(Unchecked.init) }) else { return nil }
                let data = try await stream.value.nextPiece()
                if let data { tellSent(data.count, of: length ?? -1) }
                return data
            })
    }

    private func newStream() async throws -> Unchecked<InputStream> {
        var first = state.withLock { state in
            defer { state.hasStreamed = true }
            return state.hasStreamed ? nil : originalRequest?.httpBodyStream.map(Unchecked.init)
        }
        while true {
            var given = first
            if given == nil {
                let new: Unchecked<InputStream?>? = await ask { (delegate: SessionDelegate, session, reply) in
                    delegate.urlSession(session, task: self) { reply(Unchecked($0)) }
                }
                given = new?.value.map(Unchecked.init)
            }
            guard let given else { throw URLError(.requestBodyStreamExhausted) }
            given.value.open()
            state.withLock { state in
                state.input?.close()
                (state.input, state.sent) = (given.value, 0)
            }
            if first == nil || !session.behaviour.requestsStreamsTwice { return given }
            first = nil
        }
    }

    // MARK: The response

    private func receive(_ response: HTTPResponse, _ head: HTTPURLResponse) async throws {
        self.response = head
        let behaviour = session.behaviour
        let type = head.value(forHTTPHeaderField: "Content-Type")?.lowercased() ?? ""
        if behaviour.reportsParts, type.hasPrefix("multipart/x-mixed-replace") {
            return try await receiveParts(response, head)
        }
        let isSniffed = ["", "text/plain", "application/octet-stream"].contains { type.prefix { $0 != ";" } == $0 }
        let threshold = !behaviour.withholdsHead ? 0 : isSniffed ? behaviour.sniffedBytes : 1
        var (held, isTold, allowance) = (Data(), threshold == 0, behaviour.piecesAfterSuspend)
        if isTold { try await tell(head) }
        var decoding = try Decoding(head.value(forHTTPHeaderField: "Content-Encoding"))
        for try await chunk in response.body {
            state.withLock { $0.received += Int64(chunk.count) }
            held += try decoding.decode(chunk)
            guard isTold || held.count >= threshold, !held.isEmpty else { continue }
            if !isTold { try await tell(head) }
            isTold = true
            let tail = behaviour.endsBeforeLastPiece ? held.suffix(1) : Data()
            try await deliver(held.dropLast(tail.count), &allowance)
            held = tail
        }
        try decoding.finish()
        if !isTold { try await tell(head) }
        if behaviour.endsBeforeLastPiece { end(nil) }
        if !held.isEmpty { try await deliver(held, &allowance) }
    }

    /// Reports each part of a text as a response (RFC 2046 §5.1.1), when all of them are there.
    private func receiveParts(_ response: HTTPResponse, _ head: HTTPURLResponse) async throws {
        let text = String(decoding: try await response.data(), as: UTF8.self)
        let boundary = text.prefix { $0 != "\r\n" }
        for part in text.components(separatedBy: boundary).dropFirst().dropLast() {
            try await tell(head)
            let body = part.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
            await report(Data(body.dropLast().utf8))
        }
    }

    private func tell(_ head: HTTPURLResponse) async throws {
        await untilRunning()
        guard let task = self as? URLSessionDataTask else { return }
        let disposition: URLSession.ResponseDisposition? = await ask { (delegate: SessionDelegate, session, reply) in
            delegate.urlSession(session, dataTask: task, didReceive: head, completionHandler: reply)
        }
        if disposition == .cancel { throw URLError(.cancelled) }
    }

    private func deliver(_ data: Data, _ allowance: inout Int) async throws {
        if state.withLock({ $0.suspensions > 0 }) {
            if allowance > 0 { allowance -= 1 } else { await untilRunning() }
        }
        try Task.checkCancellation()
        await report(data)
    }
}

/// A value that one task at a time uses.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension URLRequest {
    /// The request to which a redirect leads; nil for every other response.
    fileprivate func redirected(by head: HTTPURLResponse) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(head.statusCode),
            let target = head.value(forHTTPHeaderField: "Location"), let url = URL(string: target, relativeTo: url)
        else { return nil }
        var request = self
        request.url = url.absoluteURL
        return request
    }
}
