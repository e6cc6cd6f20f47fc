// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Request {
    /// A message that is complete already, as a call: it is sent to its own URL with its own body and media type.
    package init(
        _ message: HTTPRequest, name: String, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(
            message.method, RequestPath(target: message.target), headers: message.headers,
            content: message.body.isEmpty ? .none : .complete(message.body), name: name, decode: decode)
        baseURL = BaseURL(origin: message.origin)
    }
}
