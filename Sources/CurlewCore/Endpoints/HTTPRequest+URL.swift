// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension HTTPRequest {
    /// Creates a request for an absolute `http` or `https` URL. Throws `NetworkError` as the initializer for a URL
    /// string does.
    public init(
        _ method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: RequestBody = .empty
    ) throws(NetworkError) {
        try self.init(method, url: url.absoluteString, headers: headers, body: body)
    }
}
