// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Who a cookie belongs to: the comparisons of RFC 6265bis §5.1, on hosts in lower case.
enum CookieMatching {
    /// §5.1.3: the same host, or one beneath. Addresses have nothing beneath them.
    static func isHost(_ host: String, in domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, host.hasSuffix(domain), !isAddress(host) else { return false }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// §5.1.4: the same path, or one beneath in whole segments.
    static func isPath(_ path: some StringProtocol, in folder: String) -> Bool {
        guard path.hasPrefix(folder) else { return false }
        return path.utf8.count == folder.utf8.count || folder.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }

    /// §5.1.4: the folder of the path that was asked, without the slash at its end.
    static func defaultPath(ofTarget target: String) -> String {
        let path = pathOnly(target)
        guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash != path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// A target without its query.
    static func pathOnly(_ target: String) -> Substring {
        target.prefix { $0 != "?" }
    }

    /// True for an IP address. A name whose last label is a number can be nothing else (WHATWG URL §3.5).
    static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        guard let last = host.split(separator: ".").last else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.hasPrefix("0x")
    }

    /// The host and every domain above it, the host first: `a.b.c`, `b.c`, `c`.
    static func domains(of host: String) -> [Substring] {
        guard !isAddress(host) else { return [host[...]] }
        var found = [host[...]]
        while let rest = found.last, let dot = rest.firstIndex(of: ".") { found.append(rest[dot...].dropFirst()) }
        return found
    }
}
