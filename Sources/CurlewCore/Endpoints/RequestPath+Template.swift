// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension URITemplate {
    /// Returns the URL of a template that begins with a scheme and a host, for `.get(url:)`:
    ///
    ///     let repository = try await client.send(.repository("ann/kite"))          // has "https://…/issues{/number}"
    ///     let issue: Request<Issue> = .get(url: try repository.issuesURL.url(["number": 7]))
    ///
    /// Values cannot change the scheme, the host or the port. For the path, the rules of `RequestPath(expanding:_:)`
    /// apply. The fragment is removed. Throws `.invalidRequest`, also if the scheme or the host contains a variable.
    public func url(_ variables: Variables = [:]) throws(NetworkError) -> String {
        var target = TemplateTarget()
        guard problem == nil, case .literal(let start)? = parts.first, let host = start.afterScheme else {
            throw problem.map { NetworkError($0) }
                ?? NetworkError(
                    .invalidRequest, detail: "The URI template does not begin with a scheme and a host.",
                    hint: "Use RequestPath(expanding:) for a template below the base URL.")
        }
        let end = start.utf8[host...].firstIndex { "/?#".utf8.contains($0) } ?? start.endIndex
        target.append(literal: String(start[end...]))
        try target.append(parts.dropFirst(), variables.values)
        guard target.path.isEmpty || target.path.begins(with: "/") else {
            throw NetworkError(
                .invalidRequest, detail: "The host of the URI template contains a variable.",
                hint: "Values cannot determine a host. Create a base URL: BaseURL interpolates checked values.")
        }
        return start[..<end] + (try target.checked())
    }
}

extension RequestPath {
    /// Creates a path, with a query if the template has one, from a URI template (RFC 6570):
    ///
    ///     Request<[Issue]>.get(RequestPath(expanding: "/repos/{owner}/{name}/issues{?page}", ["owner": owner, …]))
    ///
    /// The result is appended to the base URL. Query items of the client are sent before those of the template, and
    /// query items of the call after them. The fragment is removed. Values cannot leave their place:
    ///
    /// - In the path, a value with a dot segment or an empty text is refused, as in an interpolated path.
    /// - `{name}` in the path needs a value. `{/name}`, `{.name}` and `{;name}` are optional, and nil omits them.
    /// - `{+name}` may contribute several segments and text that is already encoded, but no dot segment and no `?` or
    ///   `#`, and no path that begins with `//`. In the query, it may contain `&` and `=`, so use it there only for
    ///   values that the app creates.
    /// - `{&name}` before a query has begun is refused: `/films{?q}{&page}` is `/films{?q,page}`.
    ///
    /// If the template is malformed or a value is refused, `problem` has the reason, and `send` throws it.
    public init(expanding template: URITemplate, _ variables: URITemplate.Variables) {
        do throws(NetworkError) {
            if let problem = template.problem { throw NetworkError(problem) }
            var target = TemplateTarget()
            try target.append(template.parts[...], variables.values)
            guard target.path.afterScheme == nil else {
                throw NetworkError(
                    .invalidRequest, detail: "The URI template is a whole URL.",
                    hint: "Use .get(url: try template.url(…)) for it.")
            }
            self.init(target: try target.checked())
        } catch {
            self.init(refused: error)
        }
    }
}

extension NetworkError {
    fileprivate init(_ problem: URITemplate.SyntaxError) {
        self.init(.invalidRequest, detail: "The URI template cannot be used. \(problem).")
    }
}

extension String {
    /// The position after `http://` or `https://`; nil if the text begins with neither.
    fileprivate var afterScheme: String.Index? {
        for scheme in ["http://", "https://"] where utf8.count >= scheme.utf8.count {
            let start = utf8.prefix(scheme.utf8.count)
            if start.elementsEqual(scheme.utf8, by: { $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1 }) {
                return start.endIndex
            }
        }
        return nil
    }
}

/// Collects the parts of an expanded template, and refuses values that leave their place.
private struct TemplateTarget {
    private enum Place {
        case path
        case query
        case fragment
    }

    private(set) var path = ""
    private var query = ""
    private var place = Place.path

    mutating func append(
        _ parts: ArraySlice<URITemplate.Part>, _ values: [String: URITemplate.Value]
    ) throws(NetworkError) {
        for part in parts {
            switch part {
            case .literal(let text): append(literal: text)
            case .expression(let expression):
                try check(expression, values)
                do throws(URITemplate.SyntaxError) {
                    append(literal: try expression.expanded(values))
                } catch {
                    throw NetworkError(error)
                }
            }
        }
    }

    /// Appends text in which `?` begins the query and `#` the fragment.
    mutating func append(literal text: String) {
        var rest = text[...]
        if place == .path {
            let end = rest.utf8.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
            path += rest[..<end]
            rest = rest[end...]
            if rest.utf8.first == 0x3F { place = .query }
        }
        if place == .query { query += rest.upTo("#") }
        if rest.holds("#") { place = .fragment }
    }

    /// Returns the path with its query. Throws if the path as a whole would name another resource.
    func checked() throws(NetworkError) -> String {
        if let problem = PathRules.problem(ofPath: path, hasRawText: false) { throw problem }
        guard !path.begins(with: "//") else {
            throw refusal(
                "The path of the URI template begins with two slashes.",
                "Some servers read a host after them. Check the values.")
        }
        let start = path.isEmpty || path.begins(with: "/") ? "" : "/"
        return start + PercentCoding.repairPath(path) + query
    }

    private func check(
        _ expression: URITemplate.Expression, _ values: [String: URITemplate.Value]
    ) throws(NetworkError) {
        let used = expression.variables.compactMap { values[$0.name] }.filter { !$0.isUndefined }.flatMap(\.texts)
        switch (place, expression.kind) {
        case (.fragment, _), (_, .fragment), (.path, .query): return
        case (.path, .continuation):
            throw refusal(
                "The URI template continues a query that has not begun: byte \(expression.position).",
                "Write one expression, {?q,page}, or a literal ? before it.")
        case (.path, .simple) where used.isEmpty, (.path, .reserved) where used.isEmpty:
            let names = expression.variables.map(\.name).joined(separator: ", ")
            throw refusal(
                "The path of the URI template has no value for \(names).",
                "Pass a value. A segment that may be missing is {/name}.")
        default: break
        }
        for text in used {
            if place == .path, !(text.isEmpty && expression.kind == .parameters),
                let problem = PathRules.problem(ofValue: text)
            {
                throw problem
            }
            guard !expression.kind.keepsReserved || !text.holds("#") && (place == .query || !text.holds("?")) else {
                throw refusal(
                    "A value of the URI template contains ? or # and is not encoded: {+…} at byte "
                        + "\(expression.position).",
                    "Use {name}, which encodes its value, or remove the character.")
            }
        }
    }

    private func refusal(_ detail: String, _ hint: String) -> NetworkError {
        NetworkError(.invalidRequest, detail: detail, hint: hint)
    }
}
