// SPDX-License-Identifier: MIT

public import CurlewCore
package import CurlewFoundation
package import CurlewHTTP

extension HARDocument.Request {
    /// Returns the request, to send it again or to show it as a `curl` command.
    ///
    /// The request omits fields that a transport writes itself (`HTTPHeaders.endToEnd`), and the pseudo-fields of
    /// HTTP/2 that some programs record. Redacted values stay `REDACTED`. A body that was not recorded is empty.
    ///
    /// Throws `NetworkError` with the reason `.invalidRequest` for a URL or a method that cannot be sent, an invalid
    /// field, invalid Base64, and a body that was recorded only as the fields of a form that is not URL-encoded.
    public func httpRequest() throws(NetworkError) -> HTTPRequest {
        var fields = HTTPHeaders(recorded: headers).endToEnd
        if let problem = fields.problem {
            throw NetworkError(.invalidRequest, detail: "The recorded \(problem)")
        }
        let data = try postData?.data()
        if data != nil, let type = postData?.mimeType, !type.isEmpty, !fields.contains(.contentType) {
            fields[.contentType] = type
        }
        // The whole URL, although its fragment is not sent: the text of an error hides what precedes the last @.
        let request = try HTTPRequest(
            HTTPMethod(rawValue: method), url: url, headers: fields, body: data.map { .bytes($0) } ?? .empty)
        try request.validate()
        return request
    }
}

extension HARDocument.PostData {
    /// The bytes of the body, decoded; nil if they were not recorded.
    ///
    /// Throws `NetworkError` with the reason `.invalidRequest` for text that is not Base64 although `encoding` is
    /// `base64`, and for the fields of a form that is not URL-encoded, whose bytes cannot be restored.
    package func data() throws(NetworkError) -> Data? {
        if let text { return try Data(recorded: text, encoding: encoding) }
        guard let params, !params.isEmpty else { return nil }
        guard MediaType(mimeType).map({ $0.essence == MediaType.form.essence }) ?? true else {
            throw NetworkError(
                .invalidRequest, detail: "The body was recorded as fields of \(mimeType), without its bytes.",
                hint: "Record it as text.")
        }
        let pairs = params.map { param in
            PercentCoding.encode(param.name, for: .formValue) + "="
                + PercentCoding.encode(param.value, for: .formValue)
        }
        return Data(pairs.joined(separator: "&").utf8)
    }
}

extension HARDocument.Content {
    /// The bytes of the body, decoded; nil if they were not recorded.
    ///
    /// Throws `NetworkError` with the reason `.decoding` for text that is not Base64 although `encoding` is `base64`.
    package func data() throws(NetworkError) -> Data? {
        guard let text else { return nil }
        do {
            return try Data(recorded: text, encoding: encoding)
        } catch {
            throw NetworkError(.decoding, detail: error.detail)
        }
    }
}

extension HARDocument.Entry {
    /// Returns the response, with its body in memory. A body that was not recorded is empty.
    ///
    /// The body of a document is decoded, so the response omits the fields `Content-Encoding`, `Content-Length` and
    /// `Transfer-Encoding`. A body that broke off is returned as recorded, without its error.
    ///
    /// Throws `NetworkError`: `.badResponse` if no response was recorded, or if a field is invalid, and `.decoding` for
    /// a body that is not Base64 although its `encoding` is `base64`.
    public func httpResponse() throws(NetworkError) -> HTTPResponse {
        guard (100...999).contains(response.status) else {
            let cause = response.error.map { ": \($0)" } ?? ""
            throw NetworkError(.badResponse, detail: "The recorded exchange had no response\(cause).".printable)
        }
        var fields = HTTPHeaders(recorded: response.headers)
        if let problem = fields.problem { throw NetworkError(.badResponse, detail: "The recorded \(problem)") }
        for name: HTTPField.Name in [.contentEncoding, .contentLength, .transferEncoding] { fields.remove(name) }
        return HTTPResponse(
            status: HTTPStatus(response.status), headers: fields,
            body: ResponseBody(try response.content.data() ?? Data()),
            version: HTTPVersion(recorded: response.httpVersion), url: request.url,
            reasonPhrase: response.statusText.isEmpty ? nil : response.statusText)
    }
}

extension HTTPVersion {
    /// Creates the version from the texts that programs write: `HTTP/1.1`, `http/2.0`, `h2`, `h3`. Any other text is
    /// HTTP/1.1.
    package init(recorded text: String) {
        switch text.lowercased() {
        case "http/1.0": self = .http1_0
        case "h2", "http/2", "http/2.0": self = .http2
        case "h3", "http/3", "http/3.0", "h3-29": self = .http3
        default: self = .http1_1
        }
    }
}

extension HTTPHeaders {
    /// Creates headers from recorded fields, without pseudo-fields such as `:authority`.
    package init(recorded fields: [HARDocument.NameValue]) {
        self.init()
        for field in fields where !field.name.begins(with: ":") { append(HTTPField.Name(field.name), field.value) }
    }
}

extension Data {
    /// Creates the bytes of a recorded body.
    fileprivate init(recorded text: String, encoding: String?) throws(NetworkError) {
        guard let encoding, encoding.lowercased() == "base64" else {
            self = Data(text.utf8)
            return
        }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw NetworkError(.invalidRequest, detail: "The recorded body is not valid Base64.")
        }
        self = data
    }
}
