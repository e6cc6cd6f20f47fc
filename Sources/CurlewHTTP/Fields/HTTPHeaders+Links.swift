// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// A link of a `Link` field (RFC 8288 §3): `</films?page=2>; rel="next"; title="Page 2"`.
    struct Link: Sendable, Hashable {
        /// The target as written: a URL, often a relative one.
        let target: String
        /// The relations in lower case, such as `next`. Only the first `rel` parameter counts; empty without one.
        let relations: [String]
        /// The URL of the resource from which the link leads, as written; nil for the requested resource.
        let anchor: String?
        /// The title; `title*` takes precedence over `title`. Nil if there is none.
        let title: String?
        /// The other parameters in order, with names in lower case and values without quotes. At most 32.
        let parameters: [Parameter]

        /// A parameter of a link, such as `type="text/html"`.
        struct Parameter: Sendable, Hashable {
            /// The name in lower case.
            let name: String
            /// The value without quotes; empty if there is none.
            let value: String
        }

        /// The maximum numbers of links of a message and of parameters of a link. Others are ignored.
        static let maximumLinks = 256
        static let maximumParameters = 32
    }

    /// The links of all `Link` fields, in order. A malformed link is skipped, and at most 256 links are read.
    var links: [Link] {
        var links: [Link] = []
        for field in self[values: .link] {
            var reader = FieldReader(field)
            while links.count < Link.maximumLinks, reader.skipToLink() {
                if let link = reader.link() { links.append(link) }
            }
        }
        return links
    }

    /// Returns the absolute URL of the first link with a relation, such as `next`. Relations ignore case.
    ///
    ///     let next = response.headers.link("next", from: response.url)
    ///
    /// - `url`: the URL of the response, against which relative targets are resolved (RFC 3986 §5).
    ///
    /// Returns nil if there is no such link, or if its target is not an http or https URL. A link whose `anchor` is
    /// another resource is ignored. The fragment is removed.
    public func link(_ relation: String, from url: String) -> String? {
        guard let base = try? URLParts(url) else { return nil }
        return (try? link(relation, from: base))?.description
    }

    /// Returns the target of the first link with a relation; nil if there is no such link.
    package func link(_ relation: String, from base: URLParts) throws(URLProblem) -> URLParts? {
        let relation = ASCII.lowercased(relation)
        for link in links where link.relations.contains(relation) && link.leads(from: base) {
            return try URLParts(resolving: link.target, against: base.origin, target: base.target)
        }
        return nil
    }
}

extension HTTPHeaders.Link: MirroredByDescription {
    /// The relations and the path of the target. The query is omitted, because it may contain secrets.
    var description: String {
        let hasQuery = target.holds("?")
        return "\(relations.joined(separator: " ")): \(target.upTo("?"))\(hasQuery ? "?…" : "")"
    }

    /// Returns whether the link leads from the resource with this URL. A fragment of it is another resource.
    fileprivate func leads(from base: URLParts) -> Bool {
        guard let anchor else { return true }
        guard !anchor.holds("#") else { return false }
        return (try? URLParts(resolving: anchor, against: base.origin, target: base.target)) == base
    }
}

extension FieldReader {
    /// Moves to the target of the next link. Returns false at the end of the field.
    fileprivate mutating func skipToLink() -> Bool {
        while !isAtEnd {
            while let byte = remainder.first, byte == 0x2C || ASCII.isBlank(byte) { remainder.removeFirst() }
            if remainder.first == 0x3C { return true }
            skipLink()
        }
        return false
    }

    /// Skips to the next comma outside of quotes.
    private mutating func skipLink() {
        while let byte = remainder.first, byte != 0x2C {
            if byte == 0x22 {
                // Without a closing quote, the rest of the field has no structure.
                if quotedString() == nil { remainder = remainder[remainder.endIndex...] }
            } else {
                remainder.removeFirst()
            }
        }
    }

    /// Reads a link: `"<" URI-Reference ">" *( OWS ";" OWS [ link-param ] )`. Returns nil if it is malformed.
    fileprivate mutating func link() -> HTTPHeaders.Link? {
        _ = take(0x3C)
        let bytes = remainder.prefix { $0 != 0x3E }
        guard bytes.endIndex < remainder.endIndex else {
            remainder = remainder[remainder.endIndex...]
            return nil
        }
        remainder = remainder[bytes.endIndex...].dropFirst()
        var draft = LinkDraft(target: String(Substring(bytes)))
        skipBlanks()
        while take(0x3B) {
            skipBlanks()
            guard let name = token() else { continue }
            skipBlanks()
            guard take(0x3D) else {
                draft.add(ASCII.lowercased(name), "")
                continue
            }
            skipBlanks()
            guard let value = linkValue() else {
                skipLink()
                return nil
            }
            draft.add(ASCII.lowercased(name), value)
            skipBlanks()
        }
        guard isAtEnd || remainder.first == 0x2C else {
            skipLink()
            return nil
        }
        return draft.link
    }

    /// Reads a quoted string, or the bytes up to the next semicolon, comma or blank: servers also write URLs without
    /// quotes. Returns nil for a malformed quoted string.
    private mutating func linkValue() -> String? {
        if remainder.first == 0x22 { return quotedString() }
        let bytes = remainder.prefix { $0 != 0x3B && $0 != 0x2C && !ASCII.isBlank($0) }
        remainder = remainder[bytes.endIndex...]
        return String(Substring(bytes))
    }
}

/// Collects the parameters of a link. The first of several parameters with one name counts (RFC 8288 §3.3, §3.4.1).
private struct LinkDraft {
    let target: String
    var relations: String?
    var anchor: String?
    var title: String?
    var extendedTitle: String?
    var others: [HTTPHeaders.Link.Parameter] = []

    mutating func add(_ name: String, _ value: String) {
        switch name {
        case "rel": relations = relations ?? value
        case "anchor": anchor = anchor ?? value
        case "title": title = title ?? value
        case "title*": extendedTitle = extendedTitle ?? PercentCoding.decodeExtended(value)
        default:
            if others.count < HTTPHeaders.Link.maximumParameters {
                others.append(HTTPHeaders.Link.Parameter(name: name, value: value))
            }
        }
    }

    var link: HTTPHeaders.Link {
        let names = (relations ?? "").utf8.split { $0 <= 0x20 }.prefix(HTTPHeaders.Link.maximumParameters)
        return HTTPHeaders.Link(
            target: target, relations: names.map { ASCII.lowercased(String(Substring($0))) }, anchor: anchor,
            title: extendedTitle ?? title, parameters: others)
    }
}
