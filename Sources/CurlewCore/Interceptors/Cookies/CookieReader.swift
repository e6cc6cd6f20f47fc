// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes a cookie from what a server wrote, or says why it may not be one: RFC 6265bis §5.7, step by step, up to where
/// the other cookies of the jar matter.
struct CookieReader {
    let origin: Origin
    let target: String
    let now: Date
    let limits: CookieLimits

    func cookie(from line: String, _ suffixes: PublicSuffixList) throws(CookieRefusal) -> Cookie {
        let read: SetCookie
        do {
            read = try SetCookie(line, maximum: limits.cookieBytes, maximumAttribute: limits.attributeBytes)
        } catch {
            switch error {
            case .controlCharacter: throw .controlCharacter
            case .empty: throw .empty
            case .tooLong: throw .tooLong
            }
        }
        let (domain, isHostOnly) = try domain(read.domain, suffixes)
        guard !read.isSecure || origin.isConfidential else { throw .insecureOrigin }
        let cookie = Cookie(
            name: read.name, value: read.value, domain: domain, isHostOnly: isHostOnly,
            path: read.path ?? CookieMatching.defaultPath(ofTarget: target), isSecure: read.isSecure,
            isHTTPOnly: read.isHTTPOnly, sameSite: read.sameSite.flatMap(Cookie.SameSite.init) ?? .unspecified,
            expires: expiry(read), created: now)
        guard Self.keepsSameSite(cookie) else { throw .insecureSameSite }
        // A default path of "/" is no promise: the prefix wants it written (§5.7, step 22).
        guard Self.keepsPrefix(cookie, path: read.path) else { throw .brokenPrefix }
        return cookie.lasting(atMost: limits.lifetime, from: now)
    }

    /// Checks a cookie that did not come from a server.
    static func check(
        _ cookie: Cookie, _ limits: CookieLimits, _ suffixes: PublicSuffixList
    ) throws(CookieRefusal) {
        let isLegible = [cookie.name, cookie.value, cookie.path, cookie.domain].allSatisfy { text in
            !text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        }
        // A path is never sent, and that of a URL may hold a semicolon.
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
        _ written: String?, _ suffixes: PublicSuffixList
    ) throws(CookieRefusal) -> (String, isHostOnly: Bool) {
        let host = origin.host
        guard let written, written != host || !CookieMatching.isAddress(host) else { return (host, true) }
        // §5.1.2: names outside ASCII count in punycode, as hosts have them.
        guard let domain = Punycode.hostName(written) else { throw .foreignDomain }
        if suffixes.isPublic(domain) {
            // Its owner may keep cookies for itself: `github.io` is a site as well.
            guard domain == host else {
                throw CookieMatching.isHost(host, in: domain) ? .publicSuffix : .foreignDomain
            }
            return (host, true)
        }
        guard CookieMatching.isHost(host, in: domain) else { throw .foreignDomain }
        return (domain, false)
    }

    /// §5.6.2: an age counts more than a date.
    private func expiry(_ read: SetCookie) -> Date? {
        guard let age = read.maxAge else { return read.expires?.date }
        return age == 0 ? .distantPast : now.addingTimeInterval(Double(age))
    }

    /// §5.7: what goes along with requests from other sites goes over https only.
    private static func keepsSameSite(_ cookie: Cookie) -> Bool {
        cookie.sameSite != .none || cookie.isSecure
    }

    private static func keepsPrefix(_ cookie: Cookie, path: String?) -> Bool {
        // Without a name, the value would stand in its place when it is sent.
        let name = (cookie.name.isEmpty ? cookie.value : cookie.name).lowercased().utf8
        let isHost = name.starts(with: "__host-".utf8)
        let isHTTP = name.starts(with: "__http-".utf8) || name.starts(with: "__host-http-".utf8)
        guard isHost || isHTTP || name.starts(with: "__secure-".utf8) else { return true }
        return !cookie.name.isEmpty && cookie.isSecure && (!isHTTP || cookie.isHTTPOnly)
            && (!isHost || cookie.isHostOnly && path == "/")
    }
}

extension Cookie {
    /// The same name for the same place: one replaces the other.
    func isSame(as other: Cookie) -> Bool {
        // By bytes: two spellings of one letter are two names.
        name.utf8.elementsEqual(other.name.utf8) && domain == other.domain && isHostOnly == other.isHostOnly
            && path.utf8.elementsEqual(other.path.utf8)
    }

    /// The same with the time of the one that it replaces.
    func created(at date: Date) -> Cookie {
        changed(expires: expires, created: date)
    }

    /// The same for whoever keeps it. An end that moved by less than a minute is the same end: servers that move it
    /// with each answer would have it written each time.
    func isKeptLike(_ other: Cookie) -> Bool {
        guard let expires, let end = other.expires else { return self == other }
        return abs(expires.timeIntervalSince(end)) < 60
            && self == other.changed(expires: expires, created: other.created)
    }

    /// The same, ending when `lifetime` is over at the latest.
    func lasting(atMost lifetime: Duration, from now: Date) -> Cookie {
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
