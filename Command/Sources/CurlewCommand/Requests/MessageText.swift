// SPDX-License-Identifier: MIT

import Curlew

/// Writes requests and responses as they look on the wire, redacted and safe for a terminal.
struct MessageText {
    let style: Style
    let isPretty: Bool
    let showsSecrets: Bool

    /// The greatest body that is formatted.
    static let formattedLimit = 8 << 20

    private var redaction: Redaction { showsSecrets ? .none : .standard }

    /// Returns the names of what the redaction hides in a request, and how to see it; nil if it hides nothing.
    func withheld(from request: HTTPRequest) -> String? {
        var names = zip(request.headers, redaction.headers(request.headers))
            .filter { $0.value != $1.value }.map(\.0.name.text.printable)
        if redaction.url(request.urlString) != request.urlString { names.append("the URL") }
        if let data = request.body.data, !data.isEmpty {
            let type = request.headers[.contentType].flatMap { MediaType($0) }
            let shown = redaction.body(data, mediaType: type)
            if shown.map({ Data($0.utf8) != data }) ?? true { names.append("the body") }
        }
        guard !showsSecrets, !names.isEmpty else { return nil }
        return "curlew: Secrets are withheld from \(names.joined(separator: ", ")). --show-secrets shows them."
    }

    /// Returns the request line and the fields.
    func head(of request: HTTPRequest) -> String {
        let target = redaction.url(request.target).printable
        var text = style(.strong, request.method.rawValue.printable) + " \(target) HTTP/1.1\n"
        text += field("Host", request.origin.isDefaultPort ? request.origin.host : request.origin.authority)
        text += fields(request.headers)
        if let length = request.body.length, !request.body.isEmpty, !request.headers.contains(.contentLength) {
            text += field("Content-Length", "\(length)")
        }
        return text + "\n"
    }

    /// Returns the status line and the fields.
    func head(of response: HTTPResponse) -> String {
        let status = "\(response.status.code)"
        let reason = (response.reasonPhrase ?? "").printable
        var text = "\(response.version) " + style(Style.role(ofStatus: response.status.code), status)
        text += (reason.isEmpty ? "" : " " + reason) + "\n"
        return text + fields(response.headers) + "\n"
    }

    private func fields(_ headers: HTTPHeaders) -> String {
        redaction.headers(headers).map { field($0.name.text, $0.value) }.joined()
    }

    private func field(_ name: String, _ value: String) -> String {
        style(.name, name.printable) + ": \(value.printable)\n"
    }

    /// Returns the body of a request, or what is known about it.
    func body(of request: HTTPRequest) -> String {
        guard !request.body.isEmpty else { return "" }
        guard let data = request.body.data else { return style(.dim, "(\(request.body))") + "\n" }
        let type = request.headers[.contentType].flatMap { MediaType($0) }
        guard !showsSecrets else { return body(data, type) }
        guard !SafeText.isBinary(data) else { return binary(data.count, type) }
        guard let shown = redaction.body(data, mediaType: type) else {
            let kind = (type?.essence ?? "an unknown type").printable
            return style(
                .dim, "(\(data.count) bytes of \(kind), in which secrets cannot be found. --show-secrets shows it.)")
                + "\n"
        }
        return body(Data(shown.utf8), type)
    }

    /// Returns a complete body: formatted and safe for a terminal, or unchanged for a pipe.
    func body(_ data: Data, _ type: MediaType?) -> String {
        guard !data.isEmpty else { return "" }
        if SafeText.isBinary(data) { return binary(data.count, type) }
        guard isPretty else { return String(decoding: data, as: UTF8.self) }
        let looksLikeJSON = data.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } ?? false
        if type?.isJSON ?? looksLikeJSON || type?.type == "text" && looksLikeJSON,
            let text = JSONFormatter.format(data, style: style)
        {
            return text + "\n"
        }
        let text = SafeText.lines(String(decoding: data, as: UTF8.self))
        return text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
    }

    func binary(_ count: Int, _ type: MediaType?) -> String {
        let kind = (type?.essence ?? "an unknown type").printable
        return style(.dim, "(\(count) bytes of \(kind), not text. Use -o FILE, or a pipe.)") + "\n"
    }

    /// Returns the summary of a response.
    func summary(
        of response: HTTPResponse, _ metrics: ExchangeMetrics, bodyBytes: Int64, after time: Duration
    ) -> String {
        var rows: [(String, String)] = [("Status", "\(response.status.code)"), ("Version", "\(response.version)")]
        if let address = metrics.remoteAddress {
            rows.append(("Address", address + (metrics.reusedConnection == true ? " (reused connection)" : "")))
        }
        if let tls = metrics.connection?.tls { rows.append(("TLS", "\(tls)")) }
        rows.append(("Body", "\(bodyBytes) bytes"))
        if let received = metrics.bytesReceived { rows.append(("Received", "\(received) bytes")) }
        rows.append(("Time", time.brief))
        return rows.map { field($0.0, $0.1) }.joined() + "\n"
    }
}
