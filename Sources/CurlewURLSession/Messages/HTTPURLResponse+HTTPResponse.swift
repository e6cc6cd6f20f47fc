// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPResponse {
    /// Creates a response from a URLSession response and its data, for code that is migrated step by step.
    ///
    /// The fields are sorted by name, and joined Set-Cookie fields are split. If URLSession has decoded the body,
    /// `Content-Encoding` and `Content-Length` are removed.
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
    /// Creates a URLSession response from the status and the fields of `response`. Repeated fields are joined with
    /// commas. Returns nil without an absolute URL.
    ///
    /// - `url`: replaces the URL of `response`, which a manually created response may lack. Default nil: that URL.
    public convenience init?(_ response: HTTPResponse, url: URL? = nil) {
        guard let url = url ?? URL(string: response.url), url.scheme != nil else { return nil }
        var fields: [String: String] = [:]
        for field in response.headers {
            // The first spelling of a name is used: a dictionary would treat another spelling as a different field.
            let name = fields.keys.first { HTTPField.Name($0) == field.name } ?? field.name.text
            fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
        }
        self.init(
            url: url, statusCode: response.status.code, httpVersion: "\(response.version)", headerFields: fields)
    }
}

extension NetworkError {
    /// Creates an error with the reason `.status`, whatever the status of the URLSession response. For code that is
    /// migrated step by step, and for tests.
    public init(_ response: HTTPURLResponse, body: Data = Data()) {
        self.init(HTTPResponse(response, body: body), body: body)
    }
}
