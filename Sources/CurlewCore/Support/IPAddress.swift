// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// An IPv4 or IPv6 address, without port and zone.
///
/// An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`, RFC 4291 §2.5.5.2) is represented as its IPv4 address, because
/// systems connect to the IPv4 address.
public struct IPAddress: Hashable, Sendable {
    /// The bytes of the address in network byte order: four for IPv4 and for IPv4-mapped IPv6, sixteen for other IPv6.
    public let bytes: [UInt8]

    /// Parses the text form of an address, with or without brackets. Returns nil for host names, for addresses with
    /// a zone, and for shortened forms of IPv4 such as `127.1`.
    public init?(_ text: String) {
        var bytes = Array(text.utf8)
        if bytes.first == 0x5B, bytes.last == 0x5D { bytes = Array(bytes.dropFirst().dropLast()) }
        guard !bytes.contains(0) else { return nil }
        let isLong = bytes.contains(0x3A)
        var result = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        let text = String(decoding: bytes, as: UTF8.self)
        guard inet_pton(isLong ? AF_INET6 : AF_INET, text, &result) == 1 else { return nil }
        self.init(whole: result)
    }

    /// Creates an address from four or sixteen bytes in network byte order; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.init(whole: Array(bytes))
    }

    private init(whole bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes[..<12].elementsEqual(Self.mappedPrefix)
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Whether this is an IPv4 address. True for IPv4-mapped IPv6 addresses.
    package var isIPv4: Bool { bytes.count == 4 }

    /// Whether the address can belong to a host of the public internet, according to the IANA registries (RFC 6890).
    ///
    /// False for private networks, loopback, link-local, multicast, shared address space of carriers (100.64.0.0/10),
    /// documentation, benchmarks, protocol assignments and reserved space. Also false for cloud metadata addresses, and
    /// for IPv6 addresses that embed a non-public IPv4 address (NAT64, 6to4, Teredo). See
    /// `TransportConfiguration.AddressPolicy.publicOnly`.
    public var isPublic: Bool { reservation == nil }

    /// The purpose for which the address is reserved, such as `private` or `loopback`; nil for a public address.
    var reservation: String? {
        if let named = Self.reserved.first(where: { $0.network.contains(self) }) { return named.purpose }
        if isIPv4 { return nil }
        let embedded = embeddedAddresses
        if let inner = embedded.lazy.compactMap(\.reservation).first {
            return "\(inner), inside of an IPv6 address"
        }
        if !embedded.isEmpty { return nil }
        // IANA has assigned only 2000::/3 to hosts.
        return bytes[0] & 0xE0 == 0x20 ? nil : "reserved"
    }

    /// The IPv4 addresses that this IPv6 address contains, and to which routers or tunnels may forward its traffic:
    /// NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380), and the obsolete IPv4-compatible form (RFC 4291
    /// §2.5.5.1).
    var embeddedAddresses: [IPAddress] {
        guard !isIPv4 else { return [] }
        func inner(_ start: Int, _ mask: UInt8 = 0) -> IPAddress {
            IPAddress(whole: bytes[start..<start + 4].map { $0 ^ mask })
        }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)) { return [inner(12)] }
        if bytes.starts(with: [0x20, 0x02]) { return [inner(2)] }
        if bytes.starts(with: [0x20, 0x01, 0, 0]) { return [inner(4), inner(12, 0xFF)] }
        if bytes.starts(with: [UInt8](repeating: 0, count: 12)) { return [inner(12)] }
        return []
    }

    private static let reserved: [(network: IPNetwork, purpose: String)] = [
        ("0.0.0.0/8", "unspecified"), ("10.0.0.0/8", "private"), ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"), ("169.254.169.254/32", "cloud metadata"), ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"), ("192.0.0.0/24", "protocol assignments"), ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"), ("192.168.0.0/16", "private"), ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"), ("203.0.113.0/24", "documentation"), ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        // The metadata service of Azure has an address of the public internet.
        ("168.63.129.16/32", "cloud metadata"),
        ("::/128", "unspecified"), ("::1/128", "loopback"), ("::/96", "reserved"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"), ("3fff::/20", "documentation"), ("fd00:ec2::254/128", "cloud metadata"),
        ("fc00::/7", "private"), ("fe80::/10", "link-local"), ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    ].compactMap { text, purpose in IPNetwork(text).map { ($0, purpose) } }
}

extension IPAddress: CustomStringConvertible {
    /// The text form of the address, such as `10.0.0.1` or `2001:db8::1`, without brackets.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = isIPv4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// An IP network: all addresses with a common prefix, such as `10.0.0.0/8`.
struct IPNetwork: Hashable, CustomStringConvertible, Sendable {
    /// An address in the network, as specified. Only its first `bits` bits are significant.
    let address: IPAddress
    /// The length of the common prefix in bits.
    let bits: Int

    /// Parses a network such as `fd00::/8`, or a single address. Returns nil for any other text.
    init?(_ text: String) {
        let parts = text.parts("/", maximum: 2, keepingEmpty: true)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        self.address = address
        let all = address.bytes.count * 8
        guard parts.count == 2 else {
            bits = all
            return
        }
        guard parts[1].utf8.count <= 3, let number = ASCII.decimal(parts[1]).map(Int.init) else { return nil }
        // The prefix length of an IPv4-mapped network includes the 96 bits before the IPv4 address.
        let isMapped = address.isIPv4 && first.holds(":")
        let bits = isMapped ? number - 96 : number
        guard (0...all).contains(bits) else { return nil }
        self.bits = bits
    }

    /// Returns whether the network contains the address. An IPv4 network contains no IPv6 address, and vice versa.
    func contains(_ other: IPAddress) -> Bool {
        let (left, right) = (address.bytes, other.bytes)
        guard left.count == right.count else { return false }
        let whole = bits / 8
        guard left.prefix(whole) == right.prefix(whole) else { return false }
        let remainder = bits % 8
        return remainder == 0 || (left[whole] ^ right[whole]) >> (8 - remainder) == 0
    }

    /// The text form of the network, such as `10.0.0.0/8`. A single address has no prefix length.
    var description: String {
        bits == address.bytes.count * 8 ? "\(address)" : "\(address)/\(bits)"
    }
}
