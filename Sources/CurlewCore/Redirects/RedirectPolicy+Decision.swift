// SPDX-License-Identifier: MIT

import CurlewHTTP

extension RedirectPolicy {
    /// The decision about a response: return it, follow its redirect, or fail.
    enum Decision: Sendable {
        /// Return the response to the caller. The reason is nil if the response is not a redirect.
        case deliver(because: String?)
        case follow(HTTPRequest, RedirectPolicy.Redirect)
        case fail(NetworkError)
    }

    /// Returns whether a status is a redirect that can be followed. 300 leaves the choice to the user, 304 is not a
    /// redirect, 305 is deprecated, and 306 is unused (RFC 9110 §15.4).
    static func redirects(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Decides what to do with a response. Only its status and header fields determine the decision.
    ///
    /// - `trail`: the redirects of the call so far.
    /// - `limit`: the maximum number of redirects of a call.
    /// - `homeFields`: the header fields of the client's configuration. Only the client's origin receives them.
    func decide(
        _ status: HTTPStatus, _ headers: HTTPHeaders, to request: HTTPRequest, after trail: RedirectTrail,
        limit: Int = Limits.standard.redirects, homeFields: Set<HTTPField.Name> = []
    ) -> Decision {
        guard Self.redirects(status) else { return .deliver(because: nil) }
        if case .none = rule { return .deliver(because: "The policy follows no redirects.") }
        let locations = headers[values: .location]
        guard let location = locations.first else { return .deliver(because: "The response has no Location.") }

        var next = request
        do throws(NetworkError) {
            guard locations.allSatisfy({ $0 == location }) else {
                throw NetworkError(
                    .badResponse, detail: "The redirect has \(locations.count) Location fields, which differ.",
                    hint: "With options.redirects = .manual the call returns the response, with all of them.")
            }
            next = try Self.target(of: location, from: request)
            Self.changeMethod(of: &next, for: status)
            if !next.body.isEmpty, !next.body.canReplay {
                throw NetworkError(
                    .refused(by: .redirects),
                    detail: "The redirect requires the body again, but it cannot be replayed.",
                    hint: "Use a file, data, or a stream with replay: .always; or request the last URL directly.")
            }
        } catch {
            return .fail(error)
        }
        let dropped = strip(&next, from: request, homeFields)
        let redirect = RedirectPolicy.Redirect(status: status, from: request, to: next, droppedFields: dropped)
        if let failure = trail.failure(toFollow: redirect, limit: limit) { return .fail(failure) }
        do {
            guard try follows(redirect) else {
                return .deliver(because: "The policy (\(self)) does not follow \(redirect).")
            }
        } catch {
            return .fail(NetworkError(error))
        }
        return .follow(next, redirect)
    }

    private func follows(_ redirect: RedirectPolicy.Redirect) throws -> Bool {
        switch rule {
        case .all: true
        case .sameOrigin: !redirect.leavesOrigin
        case .none: false
        case .asking(let follows): try follows(redirect)
        }
    }

    /// Returns `request` with the URL of `location`. Throws if the request may not be sent to that URL.
    private static func target(of location: String, from request: HTTPRequest) throws(NetworkError) -> HTTPRequest {
        let shown = request.secrets.redaction.unusable(url: location).clipped(to: 200).printable
        let parts: URLParts
        do {
            parts = try URLParts(resolving: location, against: request.origin, target: request.target)
        } catch {
            // A scheme other than http and https is refused; anything else is an error of the server.
            throw NetworkError(
                error.isForeignScheme ? .refused(by: .redirects) : .badResponse,
                detail: "The Location of the redirect \(error.message) (\(shown)).",
                hint: "With options.redirects = .manual the call returns the response, including Location.")
        }
        guard parts.userinfo == nil else {
            throw NetworkError(
                .refused(by: .redirects),
                detail: "The Location of the redirect has a user name or password (\(shown)).",
                hint: "A server must not choose the credentials of a call (RFC 9110 §4.2.4).")
        }
        guard parts.origin.isSecure || !request.origin.isSecure else {
            throw NetworkError(
                .refused(by: .redirects), detail: "The redirect changes from https to http (\(shown)).",
                hint: "Redirect to https at the server. If plain http is intended, request the http URL directly.")
        }
        return HTTPRequest(
            request.method, origin: parts.origin, target: parts.target, headers: request.headers, body: request.body,
            secrets: request.secrets)
    }

    /// Changes the method and removes the body as RFC 9110 §15.4.2–15.4.9 requires. The Fetch standard specifies what
    /// the RFC leaves open.
    private static func changeMethod(of request: inout HTTPRequest, for status: HTTPStatus) {
        switch status.code {
        case 303 where request.method != .head && request.method != .get: break
        case 301, 302: if request.method != .post { return }
        default: return
        }
        request.method = .get
        request.body = .empty
    }

    /// Removes the header fields that the next request must not have. Returns the removed names.
    private func strip(
        _ next: inout HTTPRequest, from request: HTTPRequest, _ homeFields: Set<HTTPField.Name>
    ) -> [HTTPField.Name] {
        let isElsewhere = next.origin != request.origin
        let isGet = next.method != request.method
        guard isElsewhere || isGet else { return [] }
        let allowed = ForwardedFields(secret: secretHeaders, home: homeFields, declared: forwardedHeaders)
        var dropped: [HTTPField.Name] = []
        for field in request.headers where !dropped.contains(field.name) {
            let name = field.name
            if isElsewhere, !allowed.allow(name) {
                dropped.append(name)
            } else if isGet, Self.contentFields.contains(name) || name.text.lowercased().begins(with: "content-") {
                dropped.append(name)
            }
        }
        for name in dropped { next.headers.remove(name) }
        return dropped
    }

    /// The fields that describe a body and do not begin with `Content-`.
    private static let contentFields: Set<HTTPField.Name> = [
        .transferEncoding, "Trailer", "Expect", .lastModified, "Digest", "Repr-Digest", "Want-Digest",
    ]
}
