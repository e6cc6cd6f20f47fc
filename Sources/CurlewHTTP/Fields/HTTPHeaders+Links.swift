// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// A link of a `Link` field (RFC 8288 §3): `</films?page=2>; rel="next"; title="Page 2"`. Of several parameters
    /// with one name, the first one counts (RFC 8288 §3.3); parameters that are not listed here are skipped.
    struct Link {
        /// The target as written: a URL, often a relative one.
        let target: String
        /// The value of the parameter `rel`: relations, separated by white space.
        var relation: String?
        /// The URL of the resource from which the link leads, as written; nil for the requested resource.
        var anchor: String?

        /// The maximum number of links of a message, and of relations of a link. Others are ignored.
        static let maximumLinks = 256
        static let maximumRelations = 32

        /// The relations in lower case, such as `next`.
        var relations: [String] {
            let names = (relation ?? "").utf8.split { $0 <= 0x20 }.prefix(Self.maximumRelations)
            return names.map { ASCII.lowercased(String(Substring($0))) }
        }

        /// Returns whether the link leads from the resource with this URL. A fragment of it is another resource.
        fileprivate func leads(from base: URLParts) -> Bool {
            guard let anchor else { return true }
            guard !anchor.holds("#") else { return false }
            return (try? URLParts(resolving: anchor, against: base.origin, target: base.target)) == base
        }
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
    /// Returns nil if there is no such link, or if its target or `url` is not a valid http or https URL; later links
    /// are not tried. A link whose `anchor` is another resource is ignored, and so are links after the first 256. The
    /// fragment is removed.
    public func link(_ relation: String, from url: String) -> String? {
        guard let base = try? URLParts(url) else { return nil }
        return (try? link(relation, from: base))?.description
    }

    /// Returns the target of the first link with a relation, resolved against `base`, the URL of the response; nil if
    /// there is no such link. Relations ignore case. A link whose anchor is another resource is ignored.
    ///
    /// Throws `URLProblem` if that target is not a valid http or https URL. Later links are not tried.
    package func link(_ relation: String, from base: URLParts) throws(URLProblem) -> URLParts? {
        let relation = ASCII.lowercased(relation)
        for link in links where link.relations.contains(relation) && link.leads(from: base) {
            return try URLParts(resolving: link.target, against: base.origin, target: base.target)
        }
        return nil
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
        var link = HTTPHeaders.Link(target: String(Substring(bytes)))
        skipBlanks()
        while take(0x3B) {
            skipBlanks()
            guard let name = token() else { continue }
            skipBlanks()
            let hasValue = take(0x3D)
            skipBlanks()
            guard let value = hasValue ? linkValue() : "" else {
                skipLink()
                return nil
            }
            switch ASCII.lowercased(name) {
            case "rel": link.relation = link.relation ?? value
            case "anchor": link.anchor = link.anchor ?? value
            default: break
            }
            skipBlanks()
        }
        guard isAtEnd || remainder.first == 0x2C else {
            skipLink()
            return nil
        }
        return link
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
