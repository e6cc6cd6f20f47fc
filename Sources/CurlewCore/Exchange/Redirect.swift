// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// One redirect that a call followed: what the server said, where it led, and what was left behind.
///
/// `HTTPResponse.redirects` has those that led to an answer, oldest first.
public struct Redirect: Hashable, Sendable {
    /// The status that redirected: 301, 302, 303, 307 or 308.
    public let status: HTTPStatus
    /// The method of the request that was redirected.
    public let method: HTTPMethod
    /// The URL that was redirected. Not redacted.
    public let url: String
    /// The method of the next request.
    public let nextMethod: HTTPMethod
    /// The URL of the next request, absolute and without a fragment. Not redacted.
    public let nextURL: String
    /// True when it led to another scheme, host or port.
    public let leavesOrigin: Bool
    /// True when the request had a body and the next one has none.
    public let dropsBody: Bool
    /// The header fields that the next request goes without, in the order of the request.
    public let droppedFields: [HTTPField.Name]
    /// The host that was redirected, for those who ask which sites a call has been through.
    package let origin: Origin
    /// What its description does not show, beyond what Curlew knows.
    private let secrets: DeclaredSecrets

    package init(
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
        origin = request.origin
        secrets = request.secrets
    }
}

extension Redirect: CustomStringConvertible, CustomReflectable {
    /// What was followed and what changed, on one line with secrets out:
    /// `303 POST https://a.test/x → GET https://b.test/y, to another origin, without its body, without Cookie`.
    public var description: String {
        let redaction = secrets.redaction
        var text = "\(status.code) \(method) \(redaction.url(url)) → \(nextMethod) \(redaction.url(nextURL))"
        if leavesOrigin { text += ", to another origin" }
        if dropsBody { text += ", without its body" }
        if !droppedFields.isEmpty { text += ", without " + droppedFields.map(\.text).joined(separator: ", ") }
        return text.printable
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
