// SPDX-License-Identifier: MIT

import CurlewHTTP

/// A pattern for hosts: one host, such as `api.example.com`, or all hosts one label below a name, such as
/// `*.example.com`.
///
/// The wildcard matches exactly one label, as in certificates (RFC 9525 §6.3): `*.example.com` matches neither
/// `example.com` nor `a.b.example.com`. Case and a trailing dot are ignored.
struct HostPattern: Hashable, Sendable {
    private let name: String
    private let isWildcard: Bool

    /// Creates a pattern. Returns nil for any other text, such as a URL, a host with a port, or a name whose wildcard
    /// is not the first label.
    init?(_ text: String) {
        isWildcard = text.begins(with: "*.")
        guard let origin = Origin(scheme: "https", host: isWildcard ? String(Substring(text.utf8.dropFirst(2))) : text)
        else {
            return nil
        }
        name = origin.host.withoutLastDot
    }

    /// Returns whether the pattern matches `host`, which must be in lower case, as in an `Origin`.
    func matches(_ host: String) -> Bool {
        let host = host.withoutLastDot
        guard isWildcard else { return host == name }
        let ending = "." + name
        guard host.utf8.count > ending.utf8.count, host.ends(with: ending) else { return false }
        return !host.utf8.dropLast(ending.utf8.count).contains(UInt8(ascii: "."))
    }
}
