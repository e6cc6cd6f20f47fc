// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension Pages.Next {
    /// Follows the URLs that `target` finds in a response. `target` receives the URL of the response.
    static func following(
        _ target: @escaping @Sendable (Response<Value>, URLParts) throws(URLProblem) -> URLParts?
    ) -> Pages.Next {
        Pages.Next { response, _, plan in
            let found: URLParts?
            let base: URLParts
            do throws(URLProblem) {
                base = try URLParts(response.url)
                found = try target(response, base)
            } catch {
                return Pages.Position(token: "", refusal: "The URL of the next page \(error.message).")
            }
            guard let found else { return nil }
            return Pages.Position(token: found.description, refusal: plan.refusal(of: found, from: base.origin))
        } request: { plan, position in
            position.map { plan.request(to: $0.token) } ?? plan.first
        }
    }
}

extension Pages.Plan {
    /// The origins that receive something secret: the credentials of the client, and the fields of the request.
    private var homes: [Origin] {
        [client.baseURL?.origin, first.baseURL?.origin].compactMap { $0 }
    }

    /// Returns the reason why a link on a page of the origin `page` must not be followed; nil if it may be.
    fileprivate func refusal(of link: URLParts, from page: Origin) -> String? {
        if link.userinfo != nil { return "The URL of the next page contains a user name or password." }
        if page.isSecure, !link.origin.isSecure { return "The URL of the next page leads from https to http." }
        // Otherwise another origin would choose which URLs are requested with credentials.
        if homes.contains(where: { $0.shares(with: link.origin) && !$0.shares(with: page) }) {
            return "A page of another origin leads back to an origin with credentials."
        }
        return nil
    }

    /// Returns the request of a page at an absolute URL, as `.get(url:)` sends it. Another origin receives only those
    /// fields of the first request that are harmless or declared.
    fileprivate func request(to url: String) -> Request<Value> {
        let origin = (try? URLParts(url))?.origin
        let home = first.baseURL?.origin ?? client.baseURL?.origin
        var headers = first.headers
        if origin != home {
            let fields = client.configuration.fields
            let allowed = ForwardedFields(secret: fields.secret, declared: fields.harmless)
            for name in Set(headers.map(\.name)) where !allowed.allow(name) { headers.remove(name) }
        }
        let first = first
        var next = Request<Value>(.get, AbsoluteURL(url), body: .none, headers: headers, name: first.name) {
            try await first.decode($0, using: $1)
        }
        next.options = first.options
        return next
    }
}
