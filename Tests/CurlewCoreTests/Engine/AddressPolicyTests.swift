// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Which addresses are public, and which a policy lets through.
@Suite(.timeLimit(.minutes(1)))
struct AddressPolicyTests {
    /// First and last address of what no host of the public internet has (IANA's registries of special addresses).
    static let blocks: [(first: String, last: String)] = [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"), ("168.63.129.16", "168.63.129.16"), ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"), ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"), ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"), ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "255.255.255.255"),
    ]

    static let longBlocks: [(first: String, last: String)] = [
        ("::", "::fffe:ffff:ffff"), ("0:0:0:0:1::", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("64:ff9b:0:0:0:1::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"), ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"), ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]

    @Test("At each border of each block, inside is refused and outside allowed, also within IPv6", arguments: blocks)
    func borders(block: (first: String, last: String)) throws {
        let (first, last) = (try number(block.first), try number(block.last))
        for value in [first, last, first + (last - first) / 2] { check(value, isPublic: false) }
        for value in [Int64(first) - 1, Int64(last) + 1] where (0...Int64(UInt32.max)).contains(value) {
            let isInside = try Self.blocks.contains {
                try (number($0.first)...number($0.last)).contains(UInt32(value))
            }
            check(UInt32(value), isPublic: !isInside)
        }
    }

    private func check(_ value: UInt32, isPublic: Bool) {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        let zeros = [UInt8](repeating: 0, count: 16)
        let forms: [(String, [UInt8])] = [
            ("plain", bytes), ("mapped", zeros[..<10] + [0xFF, 0xFF] + bytes),
            ("NAT64", [0, 0x64, 0xFF, 0x9B] + zeros[..<8] + bytes), ("6to4", [0x20, 0x02] + bytes + zeros[..<10]),
        ]
        for (name, form) in forms {
            let address = IPAddress(bytes: form)
            #expect(address?.isPublic == isPublic, "\(name) \(address.map { "\($0)" } ?? "")")
            #expect(address.map(TransportConfiguration.AddressPolicy.publicOnly.allows) == isPublic)
        }
        // Obsolete forms are refused whatever they contain.
        let compatible = IPAddress(bytes: zeros[..<12] + bytes)
        let teredo = IPAddress(
            bytes: [0x20, 0x01, 0, 0, 8, 8, 8, 8] + zeros[..<4] + bytes.map { $0 ^ 0xFF })
        #expect(compatible?.isPublic == false)
        #expect(teredo?.isPublic == false)
    }

    private func number(_ text: String) throws -> UInt32 {
        try #require(IPAddress(text)).bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    @Test("The borders of the blocks of IPv6 are exact", arguments: longBlocks)
    func longBorders(block: (first: String, last: String)) throws {
        let first = try #require(IPAddress(block.first))
        let last = try #require(IPAddress(block.last))
        #expect(!first.isPublic && !last.isPublic, "\(first) \(last)")
    }

    @Test(
        "Addresses beside the blocks of IPv6 are public",
        arguments: [
            "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "2001:db7:ffff::1", "2001:db9::",
            "3ffe:ffff::1", "3fff:1000::", "2606:4700:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1",
            "::ffff:8.8.8.8", "8.8.8.8", "1.1.1.1", "192.31.196.1",
        ])
    func outside(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(
        "Addresses that request forgery aims at are refused",
        arguments: [
            "127.0.0.1", "::1", "0.0.0.0", "::", "169.254.169.254", "fd00:ec2::254", "100.100.100.200",
            "168.63.129.16", "192.0.0.192", "fe80::1", "fec0::1", "ff02::1", "fd12:3456::1", "255.255.255.255",
            "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
            "2002:7f00:1::", "2001:0:7f00:1::1", "[::ffff:7f00:1]",
        ])
    func targets(text: String) throws {
        #expect(
            !TransportConfiguration.AddressPolicy.publicOnly.allows(
                try #require(IPAddress(text))))
    }

    @Test("Exceptions have names, and an address refused by name stays refused")
    func exceptions() throws {
        let policy = TransportConfiguration.AddressPolicy.publicOnly.allowing("10.1.0.0/16", "::1").refusing(
            "10.1.2.0/24", "8.8.8.8")
        let expected = [
            ("10.1.0.1", true), ("::ffff:10.1.0.1", true), ("10.2.0.1", false), ("10.1.2.3", false), ("::1", true),
            ("8.8.8.8", false), ("64:ff9b::808:808", false), ("8.8.4.4", true), ("64:ff9b::a01:1", false),
        ]
        for (text, isAllowed) in expected {
            #expect(policy.allows(try #require(IPAddress(text))) == isAllowed, "\(text)")
        }
        let asking = TransportConfiguration.AddressPolicy.asking { $0.isIPv4 }.allowing("::1")
        #expect(asking.allows(try #require(IPAddress("127.0.0.1"))))
        #expect(asking.allows(try #require(IPAddress("::1"))))
        #expect(!asking.allows(try #require(IPAddress("2000::1"))))
        #expect(asking != TransportConfiguration.AddressPolicy.asking { $0.isIPv4 }.allowing("::1"))
    }

    @Test("A rule that cannot be kept is a problem of the configuration")
    func problems() {
        var configuration = TransportConfiguration(addressPolicy: .publicOnly.allowing("10.0.0.0/33", "localhost"))
        #expect(configuration.problems.count == 2)
        configuration.addressPolicy = .publicOnly
        #expect(configuration.problems.isEmpty)
        configuration.proxy = .environment
        #expect(configuration.problems.count == 1)
        configuration.proxy = .none
        configuration.unixSocket = "socket"
        #expect(configuration.problems.count == 1)
        configuration.addressPolicy = .everything
        #expect(configuration.problems.isEmpty)
    }

    @Test(
        "Text that is no address is no network",
        arguments: [
            "", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "010.0.0.1", "1.2.3.4\0", "fe80::1%eth0", "[::1", ":",
            "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/+8", "::/129", "::ffff:1.2.3.4/95", "1.2.3.4/8/8",
        ])
    func unreadable(text: String) {
        #expect(IPAddress(text) == nil)
        #expect(IPNetwork(text) == nil)
    }

    @Test("A network holds the addresses that begin with its bits, and is written as it is read")
    func networks() throws {
        let mapped = try #require(IPNetwork("::ffff:10.0.0.0/104"))
        #expect(mapped == IPNetwork("10.0.0.0/8"))
        #expect("\(mapped)" == "10.0.0.0/8")
        #expect(IPNetwork("2001:db8::1").map { "\($0)" } == "2001:db8::1")
        #expect(IPNetwork("0.0.0.0/0")?.contains(try #require(IPAddress("255.1.2.3"))) == true)
        #expect(IPNetwork("::/0")?.contains(try #require(IPAddress("1.2.3.4"))) == false)
    }
}
