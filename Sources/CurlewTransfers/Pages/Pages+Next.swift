// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Pages {
    /// The rule for the request of the next page: `.link`, `.link(_:)`, `.cursor(_:in:)`,
    /// `.offset(limit:in:items:total:)`, `.number(in:from:items:)` or `.custom(next:request:)`.
    public struct Next: Sendable {
        /// Returns the position after a page, or nil at the end. The second argument is the position of the page.
        let position: @Sendable (Response<Value>, Position?, Plan) throws -> Position?
        /// Returns the request of the page at a position; nil is the first page.
        let request: @Sendable (Plan, Position?) throws(NetworkError) -> Request<Value>

        /// Follows the link with the relation `next` of the `Link` field (RFC 8288). A page without it is the last one.
        ///
        /// The target is resolved against the URL of the response, and a link whose anchor is another resource is
        /// ignored. It is requested with GET and the fields and options of the first request, under the rules of
        /// redirects: a request to another origin has no credentials, not even those for that origin, and only fields
        /// that are harmless or declared. A link that is invalid, has user information, or leads from https to http or
        /// from another origin back to that of the first request ends the iteration with `.refused(by: .pages)`.
        public static var link: Next {
            following { response, base throws(URLProblem) in try response.headers.link("next", from: base) }
        }

        /// Follows a URL in the page, absolute or relative, under the rules of `link`:
        ///
        ///     client.pages(.films, next: .link(\.next))       // {"next": "https://…?page=2", "results": […]}
        ///
        /// A page without the URL, or with an empty one, is the last one.
        public static func link(_ url: @escaping @Sendable (Value) -> String?) -> Next {
            following { response, base throws(URLProblem) in
                guard let text = url(response.value), !text.isEmpty else { return nil }
                return try URLParts(resolving: text, against: base.origin, target: base.target)
            }
        }

        /// Sends the cursor of a page as a query item of the next request:
        ///
        ///     client.pages(.films, next: .cursor(\.nextCursor, in: "cursor"))
        ///
        /// A page whose cursor is nil or empty is the last one. The query item replaces those of the same name.
        public static func cursor<Cursor: QueryValue>(
            _ cursor: @escaping @Sendable (Value) -> Cursor?, in item: String
        ) -> Next {
            custom { response in
                cursor(response.value)?.queryTexts.first
            } request: { request, token in
                request.query.set(item, token)
            }
        }

        /// Finds a token in each response with `next`, and writes it with `request` to a copy of the first request:
        ///
        ///     .custom { $0.headers["X-Next"] } request: { $0.content = .json(Search(after: $1)) }
        ///
        /// A nil or empty token ends the list. Errors of `next` are thrown in place of the page.
        public static func custom(
            next: @escaping @Sendable (Response<Value>) throws -> String?,
            request: @escaping @Sendable (_ request: inout Request<Value>, _ token: String) -> Void
        ) -> Next {
            Next { response, _, _ in
                guard let token = try next(response), !token.isEmpty else { return nil }
                return Position(token: token)
            } request: { plan, position in
                var copy = plan.first
                if let position { request(&copy, position.token) }
                return copy
            }
        }
    }
}

/// Lists that are counted: by items, or by pages.
extension Pages.Next {
    /// Requests pages by offset and limit, each in a query item:
    ///
    ///     client.pages(.films, next: .offset(limit: 50, items: \.films, total: \.total))
    ///
    /// The first offset is 0, the next one the number of items so far, even if the server returns fewer than `limit`.
    /// The list ends with an empty page, at `total`, or, if `total` is nil, with a page of fewer than `limit` items.
    ///
    /// - `limit`: the number of items to request for each page; less than 1 counts as 1.
    /// - `total`: returns the number of items of the whole list; nil if the page does not state it. Default nil.
    /// - `names`: the names of the query items. Default `offset` and `limit`. They replace items of the same names.
    public static func offset<Item>(
        limit: Int, in names: (offset: String, limit: String) = ("offset", "limit"),
        items: @escaping @Sendable (Value) -> [Item], total: @escaping @Sendable (Value) -> Int? = { _ in nil }
    ) -> Pages.Next {
        let limit = max(1, limit)
        return counted(from: 0) { response, offset in
            let count = items(response.value).count
            let (end, isTooLarge) = offset.addingReportingOverflow(count)
            guard count > 0, !isTooLarge else { return nil }
            if let total = total(response.value) { return end < total ? end : nil }
            return count < limit ? nil : end
        } request: { request, offset in
            request.query.set(names.offset, "\(offset)")
            request.query.set(names.limit, "\(limit)")
        }
    }

    /// Requests pages by number, in the query item `item`, which replaces others of that name. An empty page is the
    /// last.
    ///
    ///     client.pages(.films, next: .number(in: "page", items: \.films))
    ///
    /// - `first`: the number of the first page. Default 1.
    public static func number<Item>(
        in item: String, from first: Int = 1, items: @escaping @Sendable (Value) -> [Item]
    ) -> Pages.Next {
        counted(from: first) { response, number in
            let (next, isTooLarge) = number.addingReportingOverflow(1)
            return items(response.value).isEmpty || isTooLarge ? nil : next
        } request: { request, number in
            request.query.set(item, "\(number)")
        }
    }

    private static func counted(
        from first: Int, next: @escaping @Sendable (Response<Value>, Int) -> Int?,
        request: @escaping @Sendable (inout Request<Value>, Int) -> Void
    ) -> Pages.Next {
        Pages.Next { response, position, _ in
            let number = position.flatMap { Int($0.token) } ?? first
            return next(response, number).map { Pages.Position(token: "\($0)") }
        } request: { plan, position throws(NetworkError) in
            var copy = plan.first
            guard let number = position.map({ Int($0.token) }) ?? first else {
                throw NetworkError(.invalidRequest, detail: "The position belongs to another kind of list.")
            }
            request(&copy, number)
            return copy
        }
    }
}

extension QueryItems {
    fileprivate mutating func set(_ name: String, _ value: String) {
        self = QueryItems(items.filter { $0.name != name }.map { ($0.name, $0.value) } + [(name, value)])
    }
}

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
        var next = Request<Value>(.get, absolute: url, body: .none, headers: first.headers, name: first.name) {
            try await first.decode($0, using: $1)
        }
        next.options = first.options
        next.options.note(serverChoiceFrom: home)
        return next
    }
}
