// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewFoundation
package import CurlewHTTP

extension HARDocument {
    /// The treatment of a body whose secrets cannot be recognized: one that is neither JSON, a form nor plain text,
    /// such as an image, HTML, XML or a multipart body. A redaction that hides nothing keeps every body.
    public enum OpaqueBodies: Sendable {
        /// The body is not recorded. A comment states its media type.
        case omitted
        /// The body is recorded: binary in Base64, multipart, HTML and XML as they are, other text without the secrets
        /// that have a name. Use this case only if such bodies contain no other secrets.
        case kept
    }
}

extension HARDocument.Request {
    /// Creates the HAR form of a request, without its secrets.
    ///
    /// - `body`: the bytes of the body; nil if they are not recorded. Default nil.
    /// - `version`: the HTTP version with which the request was sent. Default HTTP/1.1.
    /// - `redaction`: the secrets to redact, in addition to those that the client and its interceptors declare. With
    ///   `.none`, the value contains all of them. Default `.standard`.
    /// - `opaqueBodies`: what happens to a body whose secrets cannot be recognized. Default `.omitted`.
    package init(
        _ request: HTTPRequest, body: Data? = nil, version: HTTPVersion = .http1_1, redaction: Redaction = .standard,
        opaqueBodies: HARDocument.OpaqueBodies = .omitted
    ) {
        let redaction = request.secrets.added(to: redaction)
        let url = redaction.url(request.urlString)
        self.init(
            method: request.method.rawValue, url: url, httpVersion: "\(version)",
            headers: [HARDocument.NameValue](request.headers, redaction), queryString: .init(queryOf: url),
            bodySize: request.body.length ?? body.map { Int64($0.count) } ?? -1)
        guard let body, !request.body.isEmpty else { return }
        let type = request.headers[.contentType]
        let content = RecordedBody(
            body, mediaType: type.flatMap { MediaType($0) }, redaction: redaction, opaqueBodies: opaqueBodies)
        postData = HARDocument.PostData(
            mimeType: type ?? "", text: content.text, comment: content.comment, encoding: content.encoding)
    }
}

extension HARDocument.Response {
    /// Creates the HAR form of a response, without its secrets.
    ///
    /// - `body`: the bytes of the body after decoding; nil if they are not recorded. Default nil. The initializer does
    ///   not read `response.body`.
    /// - `redaction`: the secrets to redact, in addition to the fields that the client and its interceptors declare. A
    ///   response does not know the members and paths that they declare: pass `.standard.adding(rules)` for these. With
    ///   `.none`, the value contains all secrets. Default `.standard`.
    /// - `opaqueBodies`: what happens to a body whose secrets cannot be recognized. Default `.omitted`.
    package init(
        _ response: HTTPResponse, body: Data? = nil, redaction: Redaction = .standard,
        opaqueBodies: HARDocument.OpaqueBodies = .omitted
    ) {
        let length = response.body.declaredLength ?? body.map { Int64($0.count) }
        let type = response.headers[.contentType]
        self.init(
            status: response.status.code, statusText: response.reasonPhrase.map(redaction.text) ?? "",
            httpVersion: "\(response.version)",
            headers: [HARDocument.NameValue](response.headers, redaction),
            content: HARDocument.Content(size: length ?? -1, mimeType: type ?? ""),
            redirectURL: response.headers.first { $0.name == .location }
                .map { response.headers.value(of: $0, redaction) } ?? "",
            bodySize: response.body.declaredLength ?? -1, transferSize: response.metrics.bytesReceived)
        guard let body else { return }
        let recorded = RecordedBody(
            body, mediaType: response.mediaType, redaction: redaction, opaqueBodies: opaqueBodies)
        content.text = recorded.text
        content.encoding = recorded.encoding
        content.comment = recorded.comment
    }

    /// Creates the HAR form of a failure without a response: status 0, and the reason in `error`.
    ///
    /// - `failure`: the error of the exchange.
    /// - `redaction`: the secrets to redact in the text of the error, in addition to those that the client and its
    ///   interceptors declare. Default `.standard`.
    package init(_ failure: NetworkError, redaction: Redaction = .standard) {
        self.init(status: 0, httpVersion: "", content: HARDocument.Content(size: 0), bodySize: -1)
        error = failure.line(redaction)
    }
}

extension HARDocument.Timings {
    /// Creates the HAR form of measurements. Phases of a connection are unknown if an existing connection was used.
    ///
    /// The measurements do not separate the time to send the request from the time to wait for the response: `send` is
    /// 0, and `wait` contains both.
    package init(_ metrics: ExchangeMetrics) {
        let isReused = metrics.reusedConnection == true
        func milliseconds(_ duration: Duration?, ofConnection: Bool) -> Double? {
            guard let duration, !(ofConnection && isReused && duration == .zero) else { return nil }
            return duration.milliseconds
        }
        let ssl = milliseconds(metrics.secureConnect, ofConnection: true)
        let connect = milliseconds(metrics.connect, ofConnection: true)
        self.init(
            blocked: milliseconds(metrics.queue, ofConnection: false),
            dns: milliseconds(metrics.nameLookup, ofConnection: true),
            connect: connect == nil && ssl == nil ? nil : (connect ?? 0) + (ssl ?? 0),
            send: metrics.firstByte == nil ? -1 : 0, wait: metrics.firstByte?.milliseconds ?? -1,
            receive: metrics.transfer?.milliseconds ?? -1, ssl: ssl)
    }
}

extension NetworkError {
    /// Returns the label and the detail of the error in one line, clipped to 500 bytes, and redacted by `redaction` and
    /// by the declarations of the client.
    package func line(_ redaction: Redaction) -> String {
        let text = detail.isEmpty ? "" : ": \(secrets.added(to: redaction).text(detail).joinedLines)"
        return (label + text).clipped(to: 500).printable
    }
}

extension Duration {
    /// The duration in milliseconds, with a resolution of one microsecond.
    var milliseconds: Double { Double(wholeNanoseconds / 1000) / 1000 }
}

extension HTTPHeaders {
    /// Returns the value of a field of these headers with its secrets replaced.
    package func value(of field: HTTPField, _ redaction: Redaction) -> String {
        // A client with secret paths declares the fields whose values are URLs as secret, because descriptions of
        // headers cannot apply the patterns. A redaction that knows the patterns can.
        let isDeclared =
            isSecret(field.name) && !redaction.hidesNothing
            && (redaction.pathPatterns.isEmpty || !Redaction.urlHeaders.contains(field.name))
        return isDeclared ? Redaction.mark : redaction.value(field.value, ofHeader: field.name)
    }
}

extension [HARDocument.NameValue] {
    /// Creates the fields of a message with the values of secret fields replaced, including those that a client
    /// declares. A cookie that a response sets keeps its name and its known attributes.
    package init(_ headers: HTTPHeaders, _ redaction: Redaction) {
        self = headers.map { field in
            let value = headers.value(of: field, redaction)
            let isCookie = field.name == .setCookie && value == Redaction.mark
            return HARDocument.NameValue(
                name: field.name.text, value: isCookie ? Self.setCookie(field.value, redaction) : value)
        }
    }

    /// Returns a `Set-Cookie` value without the value of the cookie and without unknown attributes.
    private static func setCookie(_ text: String, _ redaction: Redaction) -> String {
        let pair = text.upTo(";")
        let name = pair.upTo("=").trimmed()
        guard pair.holds("="), !name.isEmpty, !text.utf8.contains(where: ASCII.isControl) else { return Redaction.mark }
        let known: Set<String> = [
            "path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned",
        ]
        let attributes = text.parts(";").dropFirst().map { $0.trimmed() }.filter { attribute in
            known.contains(attribute.upTo("=").trimmed().lowercased())
        }
        return (["\(name)=\(Redaction.mark)"] + attributes.map { redaction.url(String($0)) })
            .joined(separator: "; ")
    }

    /// Returns the decoded items of the query of a URL.
    init(queryOf url: String) {
        guard let mark = url.first("?") else {
            self = []
            return
        }
        self.init(pairs: String(Substring(url.utf8[mark...].dropFirst()).upTo("#")))
    }

    /// Creates the decoded pairs of a query or a form. Text that cannot be decoded is kept as it is.
    package init(pairs: String) {
        self = pairs.parts("&").map { pair in
            let pieces = pair.parts("=", maximum: 2, keepingEmpty: true).map(String.init)
            return HARDocument.NameValue(
                name: PercentCoding.decode(pieces.first ?? "", plusAsSpace: true) ?? pieces.first ?? "",
                value: pieces.count > 1 ? PercentCoding.decode(pieces[1], plusAsSpace: true) ?? pieces[1] : "")
        }
    }
}
