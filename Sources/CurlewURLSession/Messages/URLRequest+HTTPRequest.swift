// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// Creates a `URLRequest` from `request`, with its body if that is in memory. A file or stream body is omitted.
    ///
    /// Repeated fields are joined, cookies with `; ` and others with `, `. The order of the fields is not kept.
    /// `Content-Length` and `Transfer-Encoding` are omitted, because URLSession sets them. The session adds and stores
    /// no cookies for the request (`httpShouldHandleCookies` is false). Throws `NetworkError` with
    /// reason `.invalidRequest` for invalid fields, for a method that `URLRequest` would change, and for a URL that
    /// Foundation's `URL` cannot represent or would change.
    public init(_ request: HTTPRequest) throws(NetworkError) {
        try self.init(head: request)
        if !request.body.isEmpty { httpBody = request.body.data }
    }

    /// Creates a `URLRequest` from `request`, without its body.
    init(head request: HTTPRequest) throws(NetworkError) {
        try request.validate()
        guard let url = request.url, url.absoluteString == request.urlString else {
            throw NetworkError(
                .invalidRequest, detail: "Foundation's URL cannot represent this URL unchanged.",
                hint: Platform.current.hint("Percent-encode it", orCurl: "which sends it as written"),
                request: NetworkError.RequestLine(request))
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        guard httpMethod == request.method.rawValue else {
            throw NetworkError(
                .invalidRequest, detail: "URLRequest would send the method as \(httpMethod ?? "GET").",
                hint: "Write known methods in capitals: other spellings are other methods (RFC 9110 §9.1).",
                request: NetworkError.RequestLine(request))
        }
        httpShouldHandleCookies = false
        var joined: [HTTPField.Name: String] = [:]
        var order: [HTTPField.Name] = []
        for field in request.headers where field.name != .contentLength && field.name != .transferEncoding {
            guard let value = joined[field.name] else {
                joined[field.name] = field.value
                order.append(field.name)
                continue
            }
            joined[field.name] = value + (field.name == .cookie ? "; " : ", ") + field.value
        }
        for name in order { setValue(joined[name], forHTTPHeaderField: name.text) }
    }
}

extension HTTPRequest {
    /// Creates a request from a `URLRequest`, with its body if it has one.
    ///
    /// The fields are sorted by name. The timeout, the cache policy and the network service type are not part of the
    /// message and are ignored. A body stream is read while it is sent, which may block the thread, and cannot be sent
    /// again (`RequestBody.Replay.never`). Throws `NetworkError` with reason `.invalidRequest` if the URL is not an
    /// absolute http or https URL, and for invalid fields and methods.
    public init(_ request: URLRequest) throws(NetworkError) {
        guard let url = request.url else {
            throw NetworkError(.invalidRequest, detail: "The URLRequest has no URL.")
        }
        var headers = HTTPHeaders()
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key.lowercased() < $1.key.lowercased() }
        for field in fields { headers.append(HTTPField.Name(field.key), field.value) }
        let body: RequestBody
        if let data = request.httpBody {
            body = .bytes(data)
        } else if let stream = request.httpBodyStream {
            let source = Locked<InputStream?>(stream)
            body = .stream { RequestBody.Chunks(source.withLock { $0.take() }) }
        } else {
            body = .empty
        }
        try self.init(
            HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url.absoluteString, headers: headers, body: body)
        try validate()
    }
}

extension RequestBody.Chunks {
    /// Creates the chunks of an `InputStream`, of at most 64 KiB. While the stream has no bytes, reading blocks the
    /// thread of the task that sends the body.
    fileprivate init(_ stream: sending InputStream?) {
        let stream = Locked(stream)
        self.init {
            {
                try stream.withLock { stream in
                    guard let stream else {
                        throw NetworkError(.encoding, detail: "The body stream has already been read.")
                    }
                    if stream.streamStatus == .notOpen { stream.open() }
                    var buffer = [UInt8](repeating: 0, count: 64 << 10)
                    let count = stream.read(&buffer, maxLength: buffer.count)
                    if count > 0 { return Data(buffer[..<count]) }
                    defer { stream.close() }
                    if count < 0 {
                        throw NetworkError(
                            .encoding, detail: "The body stream failed.", underlying: stream.streamError)
                    }
                    return nil
                }
            }
        }
    }
}
