// SPDX-License-Identifier: MIT

#if HTTPTypes
public import Curlew
public import HTTPTypes

// Both modules have an HTTPRequest, an HTTPResponse and an HTTPField. Their names are written out here; elsewhere, import
// one of the modules in each file.

extension Curlew.HTTPRequest {
    /// Creates a request from one of swift-http-types, with its body. Fields keep their order; fields of the name
    /// `Cookie` become one, as HTTP/1.1 requires (RFC 9113 §8.2.3).
    ///
    /// Throws `.invalidRequest` for a request without `:authority`, for one with `:protocol` (RFC 8441), and for a URL
    /// that cannot be sent. A request without `:scheme` has `https`, and one without `:path` has `/`.
    public init(_ request: HTTPTypes.HTTPRequest, body: RequestBody = .empty) throws(NetworkError) {
        guard request.extendedConnectProtocol == nil else {
            throw NetworkError(.invalidRequest, detail: "A request with :protocol cannot be converted.")
        }
        guard let authority = request.authority else {
            throw NetworkError(.invalidRequest, detail: "The request has no :authority.")
        }
        try self.init(
            HTTPMethod(rawValue: request.method.rawValue),
            url: "\(request.scheme ?? "https")://\(authority)\(request.path ?? "/")",
            headers: HTTPHeaders(request.headerFields), body: body)
    }
}

extension HTTPTypes.HTTPRequest {
    /// Creates a request with the method, the URL and the fields of `request`; its body is passed separately. Fields keep
    /// their order.
    ///
    /// Throws `.invalidRequest` for a method that is no token, and for an invalid field.
    public init(_ request: Curlew.HTTPRequest) throws(NetworkError) {
        guard let method = Method(request.method.rawValue) else {
            throw NetworkError(.invalidRequest, detail: "The method is no token (RFC 9110 §5.6.2).")
        }
        self.init(
            method: method, scheme: request.origin.scheme, authority: request.origin.authority, path: request.target,
            headerFields: try HTTPFields(request.headers))
    }
}

extension Curlew.HTTPResponse {
    /// Creates a response from one of swift-http-types, with its body. Fields keep their order.
    public init(_ response: HTTPTypes.HTTPResponse, body: ResponseBody = ResponseBody(Data()), url: String = "") {
        let phrase = response.status.reasonPhrase
        self.init(
            status: HTTPStatus(response.status.code), headers: HTTPHeaders(response.headerFields), body: body, url: url,
            reasonPhrase: phrase.isEmpty ? nil : phrase)
    }
}

extension HTTPTypes.HTTPResponse {
    /// Creates a response with the status, the reason phrase and the fields of `response`; its body is passed
    /// separately. Fields keep their order.
    ///
    /// Throws `.badResponse` for a status of more than three digits, and `.invalidRequest` for an invalid field.
    public init(_ response: Curlew.HTTPResponse) throws(NetworkError) {
        guard (0...999).contains(response.status.code) else {
            throw NetworkError(.badResponse, detail: "The status \(response.status.code) has more than three digits.")
        }
        self.init(
            status: Status(
                code: response.status.code, reasonPhrase: response.reasonPhrase ?? response.status.reasonPhrase),
            headerFields: try HTTPFields(response.headers))
    }
}

extension HTTPHeaders {
    /// Creates the same fields in the same order. Fields of the name `Cookie` become one, at the position of the first.
    public init(_ fields: HTTPFields) {
        var cookies = fields[fields: .cookie].map(\.value)
        let isSplit = cookies.count > 1
        self.init()
        for field in fields {
            guard isSplit, field.name == .cookie else {
                append(Curlew.HTTPField.Name(field.name.rawName), field.value)
                continue
            }
            if !cookies.isEmpty { append(.cookie, cookies.joined(separator: "; ")) }
            cookies = []
        }
    }
}

extension HTTPFields {
    /// Creates the same fields in the same order.
    ///
    /// Throws `.invalidRequest` if a field was added to `headers` that they do not contain, because its name is no token
    /// or its value has control characters.
    public init(_ headers: HTTPHeaders) throws(NetworkError) {
        self.init()
        // Headers with such a field equal none without.
        var isComplete = HTTPHeaders(Array(headers)) == headers
        for field in headers {
            guard let name = HTTPTypes.HTTPField.Name(field.name.text) else {
                isComplete = false
                continue
            }
            append(HTTPTypes.HTTPField(name: name, value: field.value))
        }
        guard isComplete else {
            throw NetworkError(.invalidRequest, detail: "A field has an invalid name or value (RFC 9110 §5).")
        }
    }
}

extension APIClient {
    /// Sends a request of swift-http-types through the client's pipeline, and returns its response whatever the status.
    /// To the origin of its base URL, the client adds its fields and credentials.
    ///
    /// - `name`: the name of the call in logs, metrics and errors.
    public func send(
        _ request: HTTPTypes.HTTPRequest, body: RequestBody = .empty, name: String = "HTTPTypes"
    ) async throws(NetworkError) -> Curlew.HTTPResponse {
        try await send(Request<Curlew.HTTPResponse>(try Curlew.HTTPRequest(request, body: body), name: name))
    }
}
#endif
