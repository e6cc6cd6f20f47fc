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
    /// The origin that receives credentials and the fields of the request.
    private var home: Origin? { (first.baseURL ?? client.baseURL)?.origin }

    /// Returns the reason why a link on a page of the origin `page` must not be followed; nil if it may be.
    fileprivate func refusal(of link: URLParts, from page: Origin) -> String? {
        if link.userinfo != nil { return "The URL of the next page contains a user name or password." }
        if page.isSecure, !link.origin.isSecure { return "The URL of the next page leads from https to http." }
        // Otherwise another origin would choose which URLs are requested with credentials.
        if let home, home.shares(with: link.origin), !home.shares(with: page) {
            return "A page of another origin leads back to an origin with credentials."
        }
        return nil
    }

    /// Returns the request of a page at an absolute URL, as `.get(url:)` sends it, but to another origin as a redirect.
    fileprivate func request(to url: String) -> Request<Value> {
        let first = first
        var next = Request<Value>(.get, AbsoluteURL(url), body: .none, headers: first.headers, name: first.name) {
            try await first.decode($0, using: $1)
        }
        next.options = first.options
        next.options.serverChoice = ServerChoice(from: home)
        return next
    }
}
