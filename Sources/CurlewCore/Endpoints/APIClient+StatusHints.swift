// SPDX-License-Identifier: MIT

import CurlewHTTP

extension APIClient.Core {
    /// Returns what the developer can do about an unsuccessful status, if the call or the response explains it.
    func hint(for response: HTTPResponse, _ call: Call) -> String? {
        switch response.status.code {
        case 401: return credentialHint(response, call)
        case 403:
            return hasCredential(call)
                ? "Check what the credential permits, such as the scopes of its token."
                : "No credential was attached. Some servers respond with 403 instead of 401."
        case 404: return slashHint(call.request) ?? repetitionHint(call.request)
        case 405: return response.headers["Allow"].map { "The server allows \(NetworkError.quoted($0)) here." }
        case 407: return "Set the proxy's credentials in TransportConfiguration.proxy."
        case 413:
            let size = call.request.body.length.map { "of \($0) bytes" } ?? "without a declared length"
            return "The server takes no body \(size) here: send less, or send it in pieces, as client.upload can."
        case 415: return mediaTypeHint(response, call.request)
        default: return nil
        }
    }

    /// Whether the request has a credential, or an interceptor may have attached one.
    private func hasCredential(_ call: Call) -> Bool {
        Next(context: call.context, chain: exchanger.chain).principal(of: call.request) != .anonymous
    }

    private func credentialHint(_ response: HTTPResponse, _ call: Call) -> String {
        if call.context.authentication == .anonymous {
            return "The call excludes credentials. Check what it sends instead, such as a name and a password."
        }
        if hasCredential(call) {
            return "The server refused the credential, or none was attached. Check where it comes from."
        }
        if exchanger.pipeline.entries.contains(where: \.attachesCredentials) {
            return "No credential was attached: sign in first. For another origin, name it with for: of the credential."
        }
        let scheme = response.headers["WWW-Authenticate"]?.upTo(" ").lowercased()
        if let scheme, scheme == "basic" || scheme == "digest" { return "Add a credential, such as .\(scheme)(…)." }
        return "Add a credential, such as .bearer { token }."
    }

    /// Returns a hint if the path contains `%2F`, as when an interpolated value contains a slash; otherwise nil. Few
    /// servers support `%2F` in a path.
    private func slashHint(_ request: HTTPRequest) -> String? {
        let path = Array(request.target.upTo("?").utf8)
        let hasSlash = path.indices.dropLast(2).contains { path[$0...].prefix(3).elementsEqual("%2F".utf8) }
        guard hasSlash else { return nil }
        return "The path contains %2F: a value with a slash is one segment. For several segments, interpolate each of "
            + "them, \"/repos/\\(owner)/\\(name)\", or write \\(raw:)."
    }

    /// Returns a hint if the path begins with the path of the base URL twice; otherwise nil.
    private func repetitionHint(_ request: HTTPRequest) -> String? {
        let path = baseURL?.path ?? ""
        guard !path.isEmpty, "\(request.target.upTo("?"))/".begins(with: "\(path)\(path)/") else { return nil }
        return "The path of the base URL was sent twice: leave it out of the path of the call."
    }

    private func mediaTypeHint(_ response: HTTPResponse, _ request: HTTPRequest) -> String {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }) else {
            return "The call has no body. Add one: json:, or body: .form(…)."
        }
        if let accepted = response.headers["Accept-Post"] ?? response.headers["Accept-Patch"] {
            return "The server accepts \(NetworkError.quoted(accepted)) here, not \(type.essence)."
        }
        return "The server does not accept \(type.essence) here. Other bodies are "
            + (type.isJSON ? "body: .form(…) and .multipart(…)." : "json: and body: .form(…).")
    }
}
