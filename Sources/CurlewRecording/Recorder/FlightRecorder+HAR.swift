// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension FlightRecorder.Record {
    /// The call in HAR format: one entry for each recorded request on the wire, in the order in which they were sent. A
    /// call that sent none has one entry whose `facts.request` is 0, with the request as the call began, and the
    /// response that its caller received. There is no entry if that request could not be built.
    public var entries: [HARDocument.Entry] {
        guard !exchanges.isEmpty else { return beginning.map { [entryWithoutExchange($0)] } ?? [] }
        return exchanges.indices.map { entry(of: exchanges[$0], at: $0) }
    }

    /// The request as the call began: without its headers while the call is running.
    private var beginning: FlightRecorder.RequestHead? {
        if let request { return request }
        guard let method, let origin else { return nil }
        return FlightRecorder.RequestHead(
            method: method, origin: origin, target: target, headers: HTTPHeaders(), size: 0, hasBody: false)
    }

    private func entry(of exchange: FlightRecorder.Exchange, at index: Int) -> HARDocument.Entry {
        let content = exchange.bodies?.content
        let metrics = exchange.metrics
        let version = metrics?.version ?? exchange.response?.version ?? .http1_1
        var request = HARDocument.Request(exchange.request, version: "\(version)")
        if let body = content?.request {
            request.postData = HARDocument.PostData(
                mimeType: exchange.request.headers[.contentType] ?? "", text: body.text, comment: body.comment,
                encoding: body.encoding)
        }
        var response =
            exchange.response.map { HARDocument.Response($0, version: metrics?.version ?? $0.version) }
            ?? HARDocument.Response(status: 0, httpVersion: "", content: HARDocument.Content(size: 0))
        if let received = content?.received, response.content.size < 0 { response.content.size = received }
        if let body = content?.response {
            response.content.text = body.text
            response.content.encoding = body.encoding
            response.content.comment = body.comment
        }
        response.error = exchange.failure ?? content?.failure
        response.transferSize = metrics?.bytesReceived
        var facts = facts(attempt: exchange.attempt, hop: exchange.hop, request: exchange.number, exchange.start)
        facts.total = metrics?.total?.milliseconds
        facts.bytesSent = metrics?.bytesSent
        facts.bytesReceived = metrics?.bytesReceived
        facts.reused = metrics?.reusedConnection
        facts.localAddress = metrics?.connection?.localAddress
        facts.tls = metrics?.connection?.tls.map { "\($0)".printable }
        facts.decisions = decisions(at: index)
        facts.trailers = exchange.trailers.map { .init($0, .none) }
        if !exchange.interim.isEmpty {
            facts.interim = exchange.interim.map { interim in
                HARDocument.Interim(
                    time: interim.time.milliseconds, status: interim.status.code,
                    headers: .init(interim.headers, .none))
            }
        }
        return HARDocument.Entry(
            startedDateTime: date.addingTimeInterval(exchange.start.milliseconds / 1000), request: request,
            response: response, timings: metrics.map { HARDocument.Timings($0) } ?? HARDocument.Timings(),
            serverIPAddress: metrics?.remoteAddress.map(Self.address),
            connection: metrics?.connection?.id.map { "\($0)" }, facts: facts)
    }

    private func entryWithoutExchange(_ head: FlightRecorder.RequestHead) -> HARDocument.Entry {
        var facts = facts(attempt: 0, hop: 0, request: 0, .zero)
        facts.decisions = decisions(at: 0)
        var response =
            response.map { HARDocument.Response($0, version: $0.version) }
            ?? HARDocument.Response(status: 0, httpVersion: "", content: HARDocument.Content(size: 0))
        if case .failed(let text) = outcome { response.error = text }
        return HARDocument.Entry(
            startedDateTime: date, request: HARDocument.Request(head, version: "HTTP/1.1"), response: response,
            comment: "The call sent no request.", facts: facts)
    }

    private func facts(attempt: Int, hop: Int, request: Int, _ start: Duration) -> HARDocument.Facts {
        var facts = HARDocument.Facts(
            call: call, route: routeName.isEmpty ? nil : routeName, attempt: attempt, hop: hop, request: request,
            start: start.milliseconds)
        facts.callTime = duration?.milliseconds
        switch outcome {
        case .running: break
        case .response(let status):
            facts.failed = false
            facts.outcome = "\(status)" + (source.map { ", \($0)" } ?? "")
        case .failed(let text):
            facts.failed = true
            facts.outcome = text
        }
        return facts
    }

    /// Returns the decisions after the request at `index`, and before the next one. Decisions before the first request
    /// belong to the first one.
    private func decisions(at index: Int) -> [HARDocument.Decision]? {
        let found = decisions.filter { max(0, $0.position - 1) == index }
        guard !found.isEmpty else { return nil }
        return found.map { HARDocument.Decision(time: $0.time.milliseconds, name: $0.name, text: $0.text) }
    }

    /// Returns an address without its port and its brackets.
    private static func address(_ text: String) -> String {
        guard let colon = text.last(":") else { return text }
        let host = text[..<colon]
        // An address of version 6 without a port has several colons and no brackets.
        if host.holds(":"), !host.begins(with: "[") { return text }
        return String(host.trimmed { "[]".utf8.contains($0) })
    }
}

extension HARDocument.Request {
    fileprivate init(_ head: FlightRecorder.RequestHead, version: String) {
        self.init(
            method: head.method.rawValue, url: head.url, httpVersion: version, headers: .init(head.headers, .none),
            queryString: .init(queryOf: head.url), bodySize: head.bodyLength ?? (head.hasBody ? -1 : 0))
    }
}

extension HARDocument.Response {
    fileprivate init(_ head: FlightRecorder.ResponseHead, version: HTTPVersion) {
        self.init(
            status: head.status.code, statusText: head.reason ?? "", httpVersion: "\(version)",
            headers: .init(head.headers, .none),
            content: HARDocument.Content(size: head.length ?? -1, mimeType: head.headers[.contentType] ?? ""),
            redirectURL: head.headers[.location] ?? "", bodySize: head.length ?? -1)
    }
}
