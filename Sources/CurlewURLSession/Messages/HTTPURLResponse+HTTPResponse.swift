// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPResponse {
    /// The answer that URLSession gave as a response and data, for code that moves over step by step.
    ///
    /// Fields come sorted by name, and joined Set-Cookie fields are taken apart. `Content-Encoding` and
    /// `Content-Length` of a body that URLSession has decoded are gone.
    public init(_ response: HTTPURLResponse, body: Data) {
        var headers = ResponseFields.headers(of: response)
        if ResponseFields.isDecoded(headers[.contentEncoding]) {
            headers.remove(.contentEncoding)
            headers.remove(.contentLength)
        }
        self.init(
            status: HTTPStatus(response.statusCode), headers: headers, body: ResponseBody(body),
            url: response.url?.absoluteString ?? "")
    }
}

extension HTTPURLResponse {
    /// The head of `response`; nil if its URL is none, as in answers made by hand, and no other is given.
    ///
    /// - `url`: instead of the response's own.
    public convenience init?(_ response: HTTPResponse, url: URL? = nil) {
        guard let url = url ?? URL(string: response.url), url.scheme != nil else { return nil }
        var fields: [String: String] = [:]
        for field in response.headers {
            // The name as it came first: a dictionary would take another spelling for another field.
            let name = fields.keys.first { HTTPField.Name($0) == field.name } ?? field.name.text
            fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
        }
        self.init(
            url: url, statusCode: response.status.code, httpVersion: "\(response.version)", headerFields: fields)
    }
}

extension NetworkError {
    /// The error for an answer of URLSession: its status is the reason, whatever it is. For code that moves over step by
    /// step, and for tests.
    public init(_ response: HTTPURLResponse, body: Data = Data()) {
        self.init(HTTPResponse(response, body: body), body: body)
    }
}
