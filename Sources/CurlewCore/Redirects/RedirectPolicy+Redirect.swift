// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension RedirectPolicy {
    /// A redirect that a call followed: the response, the next request, and what was removed from the request.
    ///
    /// `HTTPResponse.redirects` lists the redirects that led to a response, oldest first.
    public struct Redirect: Hashable, Sendable {
        /// The status of the redirect: 301, 302, 303, 307 or 308.
        public let status: HTTPStatus
        /// The method of the request that was redirected.
        public let method: HTTPMethod
        /// The URL of the request that was redirected. It is not redacted.
        public let url: String
        /// The method of the next request.
        public let nextMethod: HTTPMethod
        /// The URL of the next request, absolute and without a fragment. It is not redacted.
        public let nextURL: String
        /// Whether the next request has another scheme, host or port.
        public let leavesOrigin: Bool
        /// Whether the redirected request had a body and the next request has none.
        public let dropsBody: Bool
        /// The header fields that were removed from the next request, in the order of the redirected request.
        public let droppedFields: [HTTPField.Name]
        /// The declared secrets. The description redacts them.
        private let secrets: DeclaredSecrets

        init(
            status: HTTPStatus, from request: HTTPRequest, to next: HTTPRequest, droppedFields: [HTTPField.Name]
        ) {
            self.status = status
            method = request.method
            url = request.urlString
            nextMethod = next.method
            nextURL = next.urlString
            leavesOrigin = request.origin != next.origin
            dropsBody = !request.body.isEmpty && next.body.isEmpty
            self.droppedFields = droppedFields
            secrets = request.secrets
        }
    }
}

extension RedirectPolicy.Redirect: MirroredByDescription {
    /// Both requests and what changed, on one redacted line: `303 POST https://a.test/x → GET https://b.test/y, to
    /// another origin, without the body, without Cookie`.
    public var description: String {
        let redaction = secrets.redaction
        var text = "\(status.code) \(method) \(redaction.url(url)) → \(nextMethod) \(redaction.url(nextURL))"
        if leavesOrigin { text += ", to another origin" }
        if dropsBody { text += ", without the body" }
        if !droppedFields.isEmpty { text += ", without " + droppedFields.map(\.text).joined(separator: ", ") }
        return text.printable
    }
}

private enum RedirectsKey: FactKey {
    static let defaultValue: [RedirectPolicy.Redirect] = []
}

extension ExchangeContext {
    /// The redirects of the call that led to this request, oldest first.
    public internal(set) var redirects: [RedirectPolicy.Redirect] {
        get { facts[RedirectsKey.self] }
        set { facts[RedirectsKey.self] = newValue }
    }
}

extension HTTPResponse {
    /// The redirects that led to this response, oldest first. Set by `.redirects()`.
    public var redirects: [RedirectPolicy.Redirect] {
        get { facts[RedirectsKey.self] }
        set { facts[RedirectsKey.self] = newValue }
    }
}

extension Response {
    /// The redirects that led to this response, oldest first.
    public var redirects: [RedirectPolicy.Redirect] { facts[RedirectsKey.self] }
}
