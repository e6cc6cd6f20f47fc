// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The names, attributes and events of spans, by the stable OpenTelemetry conventions for HTTP client spans.
struct SpanAttributes: Sendable {
    let redaction: Redaction
    let recordsUserAgent: Bool
    let methods: Set<HTTPMethod>

    /// Returns the redaction with the secrets that the client and its interceptors declare.
    func redaction(in context: ExchangeContext) -> Redaction { context.secrets.added(to: redaction) }

    /// Returns the name of a span: the method and the route. A path may have any number of values, so it is no name.
    func name(of request: HTTPRequest, in context: ExchangeContext) -> String {
        let known = methods.contains(request.method) ? request.method.rawValue : "HTTP"
        return context.routeName.isEmpty ? known : "\(known) \(context.routeName.clipped(to: 200).printable)"
    }

    /// Returns the span of a call, without its end.
    func call(
        _ request: HTTPRequest, _ own: TraceContext, _ parent: TraceContext.SpanID?, in context: ExchangeContext,
        at time: UInt64
    ) -> TraceSpan {
        var span = TraceSpan(
            name(of: request, in: context), kind: .internal, context: own, parent: parent, start: time)
        writeMethod(of: request, to: &span)
        span["curlew.call"] = .int(Int64(clamping: context.id))
        if !context.routeName.isEmpty { span["curlew.route"] = .string(context.routeName.clipped(to: 200).printable) }
        return span
    }

    /// Returns the attributes that describe a request when it is sent.
    func request(_ request: HTTPRequest, in context: ExchangeContext) -> [TraceSpan.Attribute] {
        var span = TraceSpan("", kind: .client, context: Self.none, start: 0)
        writeMethod(of: request, to: &span)
        let secrets = request.secrets.isEmpty ? context.secrets : request.secrets
        let url = secrets.added(to: redaction).url(NetworkError.RequestLine(request).url)
        span["url.full"] = .string(url.clipped(to: TraceSpan.maximumText).printable)
        let host = request.origin.host
        span["server.address"] = .string(host.begins(with: "[") ? String(host.dropFirst().dropLast()) : host)
        span["server.port"] = .int(Int64(request.origin.port))
        if recordsUserAgent, let agent = request.headers[.userAgent] {
            span["user_agent.original"] = .string(agent.clipped(to: 500).printable)
        }
        return span.attributes
    }

    // The context of a span that is only a list of attributes.
    private static let none = TraceContext(traceID: .random { 1 }, spanID: .random { 1 }, flags: [])

    private func writeMethod(of request: HTTPRequest, to span: inout TraceSpan) {
        let method = request.method.rawValue
        if methods.contains(request.method) {
            span["http.request.method"] = .string(method)
        } else {
            span["http.request.method"] = .string("_OTHER")
            span["http.request.method_original"] = .string(method.clipped(to: 100).printable)
        }
    }

    /// Writes the status of a response. To a client, 4xx and 5xx are errors.
    static func write(_ status: HTTPStatus, to span: inout TraceSpan) {
        span["http.response.status_code"] = .int(Int64(status.code))
        guard status.code >= 400 else { return }
        span["error.type"] = .string("\(status.code)")
        span.status = .error(message: "")
    }

    /// Writes the attributes of an ended request.
    static func write(_ metrics: ExchangeMetrics, to span: inout TraceSpan) {
        if let version = metrics.version {
            span["network.protocol.version"] = .string(
                version.major >= 2 && version.minor == 0 ? "\(version.major)" : "\(version.major).\(version.minor)")
        }
        if let address = metrics.remoteAddress { write(peer: address, to: &span) }
    }

    private static func write(peer address: String, to span: inout TraceSpan) {
        // A Unix domain socket has a path and no port.
        guard let colon = address.last(":"), let port = Int64(address[address.index(after: colon)...]) else {
            span["network.peer.address"] = .string(address.clipped(to: 200).printable)
            return
        }
        let host = address[..<colon].trimmed { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
        span["network.peer.address"] = .string(String(host).clipped(to: 200).printable)
        span["network.peer.port"] = .int(port)
    }

    /// Returns the name and the attributes of the event for a phase of the connection.
    static func event(_ phase: ExchangeEvent.ConnectionPhase) -> (name: String, attributes: [TraceSpan.Attribute]) {
        switch phase {
        case .resolving: ("connection.looking_up", [])
        case .trying(let address):
            ("connection.trying", [TraceSpan.Attribute("curlew.address", .string(address.clipped(to: 200).printable))])
        case .opened: ("connection.opened", [])
        case .secured(let tls):
            ("connection.secured", [TraceSpan.Attribute("curlew.tls", .string("\(tls)".clipped(to: 200).printable))])
        case .ready(let connection):
            (
                "connection.ready",
                connection.id.map { [TraceSpan.Attribute("curlew.connection", .int(Int64(clamping: $0)))] } ?? []
            )
        @unknown default: ("connection.other", [])
        }
    }
}

/// The class and the message of a failure, as a span shows them.
struct SpanFailure: Sendable {
    /// The attribute `error.type`: the status code, or the name of the reason (`NetworkError.Reason.errorType`).
    let type: String
    /// The redacted message; empty if the status code explains the failure.
    let message: String
    /// Whether the failure is one of the transfer of a request, and not of its result.
    let isOfTransfer: Bool

    init(_ error: NetworkError, _ redaction: Redaction) {
        type = error.reason.errorType
        if case .status = error.reason {
            message = ""
        } else {
            message = redaction.text(error.detail).clipped(to: 300).printable
        }
        switch error.reason {
        case .cancelled, .timedOut, .connectionLost, .badResponse, .limitExceeded: isOfTransfer = true
        default: isOfTransfer = false
        }
    }

    func write(to span: inout TraceSpan) {
        span["error.type"] = .string(type)
        span.status = .error(message: message)
    }
}
