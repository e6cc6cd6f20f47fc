// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A collection of cookies that determines which cookies a request receives (RFC 6265bis). It performs no I/O, and its
/// functions receive the time as a parameter.
///
/// `CookieStore` fills a jar and shares it among clients. Limits: 4096 bytes of name and value, 1024 bytes of an
/// attribute, 50 cookies of a domain, 3000 in total, 50 from one response, 16 KiB in a field, a lifetime of 400 days.
/// If a limit is exceeded, expired cookies are removed first. If a domain still has too many cookies, those without
/// `Secure` are removed before the others, and otherwise the cookies that were least recently set or sent. Plain http
/// to loopback counts as secure, as in browsers.
struct CookieJar: Sendable {
    /// The limits on the number, size and lifetime of cookies.
    let limits: CookieStore.Limits
    /// The list of public suffixes, such as `co.uk`, for which no cookie is accepted.
    let publicSuffixes: CookieStore.PublicSuffixList

    private var entries: [String: [Entry]] = [:]
    private var count = 0
    /// The number of changes to the contents; `lastingChanges` counts only changes to cookies with an expiry.
    private(set) var changes = 0
    private(set) var lastingChanges = 0
    /// The serial number of the cookie that was added last. Serial numbers order cookies that were created at the same
    /// time.
    private var serial: UInt64 = 0

    private struct Entry: Sendable {
        var cookie: Cookie
        var lastAccess: Date
        let serial: UInt64
    }

    init(limits: CookieStore.Limits = .standard, publicSuffixes: CookieStore.PublicSuffixList = .bundled) {
        self.limits = limits
        self.publicSuffixes = publicSuffixes
    }

    /// All cookies, oldest first. Expired cookies are included until they are removed.
    var cookies: [Cookie] {
        entries.values.joined().ordered(by: Self.isOlder).map(\.cookie)
    }

    /// Stores the cookie from a `Set-Cookie` field of the response to `request` (RFC 6265bis §5.6, §5.7). A cookie that
    /// has already expired removes the stored cookie that it replaces.
    ///
    /// Returns the reason if the cookie is refused; nil otherwise.
    @discardableResult
    mutating func store(_ line: String, from request: HTTPRequest, at now: Date) -> Cookie.Refusal? {
        do throws(Cookie.Refusal) {
            let reader = CookieReader(origin: request.origin, target: request.target, now: now, limits: limits)
            let cookie = try reader.cookie(from: line, publicSuffixes)
            if !cookie.isSecure, !request.origin.isConfidential, hidesSecureCookie(cookie, at: now) {
                throw .hidesSecureCookie
            }
            store(cookie, at: now)
            return nil
        } catch {
            return error
        }
    }

    /// Stores a cookie as if a secure response from its domain had set it. Returns the reason if the cookie is refused;
    /// nil otherwise.
    @discardableResult
    mutating func insert(_ cookie: Cookie, at now: Date) -> Cookie.Refusal? {
        do throws(Cookie.Refusal) {
            try CookieReader.check(cookie, limits, publicSuffixes)
            store(cookie.lasting(upTo: limits.lifetime, from: now), at: now)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the `Cookie` field for `request`; nil if no cookie applies (RFC 6265bis §5.8.3).
    ///
    /// Cookies with longer paths are first, then older cookies. Cookies that do not fit in
    /// `CookieStore.Limits.headerBytes` are omitted.
    ///
    /// - `isCrossSite`: whether a redirect from another site led to the request. Default false.
    mutating func header(for request: HTTPRequest, isCrossSite: Bool = false, at now: Date) -> String? {
        guard count > 0 else { return nil }
        var text = ""
        for entry in matches(for: request, isCrossSite: isCrossSite, at: now) {
            let pair = entry.cookie.pair
            guard text.utf8.count + pair.utf8.count + 2 <= limits.headerBytes else { continue }
            text += text.isEmpty ? pair : "; \(pair)"
        }
        return text.isEmpty ? nil : text
    }

    /// Returns the cookies that `request` would receive, in the order of the `Cookie` field. This does not count as a
    /// use of the cookies.
    func cookies(for request: HTTPRequest, isCrossSite: Bool = false, at now: Date) -> [Cookie] {
        var copy = self
        return copy.matches(for: request, isCrossSite: isCrossSite, at: now).map(\.cookie)
    }

    /// Removes the cookies for which `isUnwanted` returns true.
    mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        for domain in entries.keys { remove(from: domain) { isUnwanted($0.cookie) } }
    }

    private mutating func matches(for request: HTTPRequest, isCrossSite: Bool, at now: Date) -> [Entry] {
        let host = request.origin.host
        let path = CookieMatching.pathOnly(request.target)
        var found: [Entry] = []
        for domain in CookieMatching.domains(of: host).map(String.init) {
            guard let count = entries[domain]?.count else { continue }
            for index in 0..<count {
                guard let cookie = entries[domain]?[index].cookie, !cookie.hasExpired(at: now),
                    domain == host || !cookie.isHostOnly, CookieMatching.isPath(path, in: cookie.path),
                    !cookie.isSecure || request.origin.isConfidential,
                    !isCrossSite || cookie.sameSite.crosses(with: request.method)
                else { continue }
                entries[domain]?[index].lastAccess = now
                if let entry = entries[domain]?[index] { found.append(entry) }
            }
        }
        guard found.count > 1 else { return found }
        return found.ordered { left, right in
            let lengths = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return lengths.0 == lengths.1 ? Self.isOlder(left, right) : lengths.0 > lengths.1
        }
    }

    /// Returns whether a cookie from plain http would replace a cookie from https, or be sent before it. Such a cookie
    /// must be refused (RFC 6265bis §5.7).
    private func hidesSecureCookie(_ cookie: Cookie, at now: Date) -> Bool {
        entries.contains { domain, entries in
            (CookieMatching.isHost(domain, in: cookie.domain) || CookieMatching.isHost(cookie.domain, in: domain))
                && entries.contains {
                    $0.cookie.isSecure && $0.cookie.name.utf8.elementsEqual(cookie.name.utf8)
                        && !$0.cookie.hasExpired(at: now)
                        && CookieMatching.isPath(cookie.path[...], in: $0.cookie.path)
                }
        }
    }

    private mutating func note(_ old: Cookie?, _ new: Cookie?) {
        if let old, let new, old.isKeptLike(new) { return }
        changes += 1
        if old?.expires != nil || new?.expires != nil { lastingChanges += 1 }
    }

    private mutating func store(_ cookie: Cookie, at now: Date) {
        let domain = cookie.domain
        let known = entries[domain]?.firstIndex { $0.cookie.isSame(as: cookie) }
        if let known, let earlier = entries[domain]?[known].cookie {
            // A replacement keeps the creation time of the old cookie, because cookies are ordered by it.
            let replacement = cookie.created(at: earlier.hasExpired(at: now) ? cookie.created : earlier.created)
            note(earlier, replacement)
            entries[domain]?[known].cookie = replacement
            entries[domain]?[known].lastAccess = now
        } else {
            note(nil, cookie)
            serial += 1
            entries[domain, default: []].append(Entry(cookie: cookie, lastAccess: now, serial: serial))
            count += 1
        }
        guard cookie.hasExpired(at: now) || (known == nil && isOver(domain)) else { return }
        remove(from: domain) { $0.cookie.hasExpired(at: now) }
        while let all = entries[domain], all.count > max(0, limits.perDomain) {
            let open = all.filter { !$0.cookie.isSecure }
            evictOldest(of: open.isEmpty ? all : open)
        }
        guard count > max(0, limits.total) else { return }
        removeAll { $0.hasExpired(at: now) }
        while count > max(0, limits.total) { evictOldest(of: entries.values.joined()) }
    }

    private func isOver(_ domain: String) -> Bool {
        count > limits.total || (entries[domain]?.count ?? 0) > limits.perDomain
    }

    private mutating func evictOldest(of candidates: some Sequence<Entry>) {
        let oldest = candidates.min { ($0.lastAccess, $0.serial) < ($1.lastAccess, $1.serial) }
        guard let oldest else { return }
        remove(from: oldest.cookie.domain) { $0.serial == oldest.serial }
    }

    private mutating func remove(from domain: String, where isUnwanted: (Entry) -> Bool) {
        guard var kept = entries[domain] else { return }
        let before = kept.count
        kept.removeAll(where: isUnwanted)
        guard kept.count < before else { return }
        count -= before - kept.count
        for entry in entries[domain] ?? [] where isUnwanted(entry) { note(entry.cookie, nil) }
        entries[domain] = kept.isEmpty ? nil : kept
    }

    private static func isOlder(_ left: Entry, _ right: Entry) -> Bool {
        (left.cookie.created, left.serial) < (right.cookie.created, right.serial)
    }
}

extension CookieJar: MirroredByDescription {
    /// The number of cookies, without their contents.
    var description: String { "\(count) cookies" }
}

extension Cookie.SameSite {
    /// Returns whether the cookie is sent with a request that has this method and follows a redirect from another site.
    func crosses(with method: HTTPMethod) -> Bool {
        switch self {
        case .strict: false
        case .lax, .unspecified: method.isSafe
        case .none: true
        }
    }
}

/// The comparisons of RFC 6265bis §5.1, for hosts in lower case.
enum CookieMatching {
    /// Returns whether `host` is `domain` or one of its subdomains (§5.1.3). An IP address has no subdomains.
    static func isHost(_ host: String, in domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, host.ends(with: domain), !isAddress(host)
        else { return false }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Returns whether `path` is `folder` or a path below it in complete segments (§5.1.4).
    static func isPath(_ path: Substring, in folder: String) -> Bool {
        guard path.begins(with: folder) else { return false }
        return path.utf8.count == folder.utf8.count || folder.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }

    /// Returns the default path of a cookie: the folder of the request path, without the trailing slash (§5.1.4).
    static func defaultPath(ofTarget target: String) -> String {
        let path = pathOnly(target)
        guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash != path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// Returns the path of a request target, without the query.
    static func pathOnly(_ target: String) -> Substring {
        Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })
    }

    /// Returns whether the host is an IP address. A name whose last label is a number is always an address (WHATWG URL
    /// §3.5).
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") { return true }
        guard let last = host.parts(".").last else { return false }
        return last.utf8.allSatisfy(ASCII.isDigit) || last.begins(with: "0x")
    }

    /// Returns the host and every domain above it, the host first: `a.b.c`, `b.c`, `c`.
    static func domains(of host: String) -> [Substring] {
        guard !isAddress(host) else { return [host[...]] }
        var found = [host[...]]
        while let remainder = found.last, let dot = remainder.utf8.firstIndex(of: UInt8(ascii: ".")) {
            found.append(Substring(remainder.utf8[dot...].dropFirst()))
        }
        return found
    }
}
