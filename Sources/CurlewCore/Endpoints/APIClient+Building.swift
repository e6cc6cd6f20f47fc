// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension APIClient.Core {
    /// Builds the request for `route`, as it is before the interceptors run. Throws the first problem of the route,
    /// such as an invalid path.
    func build(_ route: some Route, codecs: Codecs, accept: String) throws(NetworkError) -> HTTPRequest {
        let path = route.path
        if let problem = path.problem { throw problem }
        let own = route.baseURL
        guard let base = own ?? baseURL else {
            throw NetworkError(
                .configuration, detail: "Neither the client nor the route has a base URL.",
                hint: "Create the client with APIClient(baseURL: …), or request an absolute URL with .get(url:).")
        }
        guard let origin = base.origin else { throw base.problem ?? NetworkError(.configuration) }

        var target = base.path.isEmpty ? path.encoded : base.path + path.encoded
        if target.utf8.first != UInt8(ascii: "/") { target = "/" + target }
        if own == nil, !query.isEmpty { query.write(toFrontOf: &target) }
        let items = route.query
        if !items.isEmpty { items.write(to: &target, hasQuery: target.utf8.contains(UInt8(ascii: "?"))) }

        let content = route.content
        var headers = defaults(for: origin, accept: accept)
        let mine = route.headers
        if !mine.isEmpty || mine.problem != nil { headers = headers.merging(mine, replacing: true) }
        if let type = content.contentType, !headers.contains(.contentType) { headers.append(.contentType, type) }

        let secrets = exchanger.secrets
        secrets.declare(in: &headers)
        let body: RequestBody
        do throws(NetworkError) {
            body = try content.body(using: codecs)
        } catch {
            var failure = error
            failure.request = NetworkError.RequestLine(
                HTTPRequest(route.method, origin: origin, target: target, headers: headers, secrets: secrets))
            throw failure
        }
        return try HTTPRequest(
            route.method, origin: origin, target: target, headers: headers, body: body, secrets: secrets
        ).validated()
    }

    /// Returns the client's fields for a call to `origin`: all of them if the client has this origin or no base URL,
    /// otherwise only `Accept` and `User-Agent`.
    private func defaults(for origin: Origin, accept: String) -> HTTPHeaders {
        guard let baseURL, baseURL.origin != origin else {
            if accept == "*/*" { return rawHeaders }
            if accept == configuration.codecs.accept { return decodedHeaders }
            return Self.basic(configuration, accept: accept).merging(ownHeaders, replacing: true)
        }
        return Self.basic(configuration, accept: accept)
    }
}

/// Identifies the response types that need no codec, so that the call accepts any media type.
enum RawResponse {
    static func isRaw(_ type: any Any.Type) -> Bool {
        type == Void.self || type == Data.self || type == String.self || type == HTTPResponse.self
            || type == Data?.self || type == String?.self
    }
}
