// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The comparisons of RFC 6265bis §5.1, for hosts in lower case.
enum CookieMatching {
    /// Returns whether `host` is `domain` or one of its subdomains (§5.1.3). An IP address has no subdomains.
    static func isHost(_ host: String, in domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, host.utf8.reversed().starts(with: domain.utf8.reversed()),
            !isAddress(host)
        else { return false }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Returns whether `path` is `folder` or a path below it in complete segments (§5.1.4).
    static func isPath(_ path: some StringProtocol, in folder: String) -> Bool {
        guard path.utf8.starts(with: folder.utf8) else { return false }
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
        guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        return last.allSatisfy { (0x30...0x39).contains($0) } || last.starts(with: "0x".utf8)
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
