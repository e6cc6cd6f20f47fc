// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Parses and checks a cookie from a server, by the steps of RFC 6265bis §5.7 that do not depend on other cookies.
struct CookieReader {
    let origin: Origin
    let target: String
    let now: Date
    let limits: CookieStore.Limits

    func cookie(from line: String, _ suffixes: CookieStore.PublicSuffixList) throws(Cookie.Refusal) -> Cookie {
        let read = try SetCookie(line, maximum: limits.cookieBytes, maximumAttribute: limits.attributeBytes)
        let (domain, isHostOnly) = try domain(read.domain, suffixes)
        guard !read.isSecure || origin.isConfidential else { throw .insecureOrigin }
        let cookie = Cookie(
            name: read.name, value: read.value, domain: domain, isHostOnly: isHostOnly,
            path: read.path ?? CookieMatching.defaultPath(ofTarget: target), isSecure: read.isSecure,
            isHTTPOnly: read.isHTTPOnly, sameSite: read.sameSite.flatMap(Cookie.SameSite.init) ?? .unspecified,
            expires: expiry(read), created: now)
        guard Self.keepsSameSite(cookie) else { throw .insecureSameSite }
        // The `__Host-` prefix requires an explicit "/"; a default path does not count (§5.7, step 22).
        guard Self.keepsPrefix(cookie, path: read.path) else { throw .brokenPrefix }
        return cookie.lasting(upTo: limits.lifetime, from: now)
    }

    /// Checks a cookie that the app or a file provides. Throws the reason if the cookie is refused.
    static func check(
        _ cookie: Cookie, _ limits: CookieStore.Limits, _ suffixes: CookieStore.PublicSuffixList
    ) throws(Cookie.Refusal) {
        let isLegible = [cookie.name, cookie.value, cookie.path, cookie.domain].allSatisfy { text in
            !text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        }
        // A path is never sent, and the path of a URL may contain a semicolon.
        let isWhole = [cookie.name, cookie.value, cookie.domain].allSatisfy { !$0.utf8.contains(UInt8(ascii: ";")) }
        guard isLegible, isWhole, !cookie.name.utf8.contains(UInt8(ascii: "=")) else { throw .controlCharacter }
        guard !cookie.name.isEmpty || !cookie.value.isEmpty else { throw .empty }
        guard cookie.name.utf8.count + cookie.value.utf8.count <= limits.cookieBytes else { throw .tooLong }
        guard keepsSameSite(cookie) else { throw .insecureSameSite }
        guard Origin(scheme: "https", host: cookie.domain) != nil else { throw .foreignDomain }
        guard cookie.isHostOnly || !suffixes.isPublic(cookie.domain) else { throw .publicSuffix }
        guard keepsPrefix(cookie, path: cookie.path) else { throw .brokenPrefix }
    }

    private func domain(
        _ written: String?, _ suffixes: CookieStore.PublicSuffixList
    ) throws(Cookie.Refusal) -> (String, isHostOnly: Bool) {
        let host = origin.host
        guard let written, written != host || !CookieMatching.isAddress(host) else { return (host, true) }
        // §5.1.2: names outside ASCII are compared in punycode, as hosts are.
        guard let domain = Punycode.hostName(written) else { throw .foreignDomain }
        if suffixes.isPublic(domain) {
            // A host that is itself a public suffix, such as `github.io`, may set cookies only for itself.
            guard domain == host else {
                throw CookieMatching.isHost(host, in: domain) ? .publicSuffix : .foreignDomain
            }
            return (host, true)
        }
        guard CookieMatching.isHost(host, in: domain) else { throw .foreignDomain }
        return (domain, false)
    }

    /// Returns the time when the cookie expires; nil for a session cookie. `Max-Age` takes precedence over `Expires`
    /// (§5.6.2).
    private func expiry(_ read: SetCookie) -> Date? {
        guard let age = read.maxAge else { return read.expires?.date }
        return age == 0 ? .distantPast : now.addingTimeInterval(Double(age))
    }

    /// Returns whether the cookie has `Secure` if it is sent with cross-site requests, as §5.7 requires.
    private static func keepsSameSite(_ cookie: Cookie) -> Bool {
        cookie.sameSite != .none || cookie.isSecure
    }

    private static func keepsPrefix(_ cookie: Cookie, path: String?) -> Bool {
        // A cookie without a name is sent as its value alone, so the value must not look like a prefixed name.
        let name = (cookie.name.isEmpty ? cookie.value : cookie.name).lowercased()
        let isHost = name.begins(with: "__host-")
        let isHTTP = name.begins(with: "__http-") || name.begins(with: "__host-http-")
        guard isHost || isHTTP || name.begins(with: "__secure-") else { return true }
        return !cookie.name.isEmpty && cookie.isSecure && (!isHTTP || cookie.isHTTPOnly)
            && (!isHost || cookie.isHostOnly && path == "/")
    }
}

extension Cookie {
    /// Returns whether both cookies have the same name, domain and path, so that one replaces the other.
    func isSame(as other: Cookie) -> Bool {
        // Names are compared by bytes: two encodings of one letter are two names.
        name.utf8.elementsEqual(other.name.utf8) && domain == other.domain && isHostOnly == other.isHostOnly
            && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Returns a copy with the creation time `date`: that of the cookie that the copy replaces.
    func created(at date: Date) -> Cookie {
        changed(expires: expires, created: date)
    }

    /// Returns whether the stored forms of both cookies are equal. Expiries that differ by less than a minute count as
    /// equal: a server that extends the expiry with each response would otherwise cause a write each time.
    func isKeptLike(_ other: Cookie) -> Bool {
        guard let expires, let end = other.expires else { return self == other }
        return abs(expires.timeIntervalSince(end)) < 60
            && self == other.changed(expires: expires, created: other.created)
    }

    /// Returns a copy that expires after `lifetime` at the latest.
    func lasting(upTo lifetime: Duration, from now: Date) -> Cookie {
        guard let expires else { return self }
        let last = now.addingTimeInterval(Double(lifetime.components.seconds))
        return expires <= last ? self : changed(expires: last, created: created)
    }

    private func changed(expires: Date?, created: Date) -> Cookie {
        Cookie(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, sameSite: sameSite, expires: expires, created: created)
    }
}
