// SPDX-License-Identifier: MIT

extension TransportConfiguration {
    /// A policy that restricts the IP addresses to which a transport connects, whatever the name in the URL.
    ///
    ///     configuration.addressPolicy = .publicOnly                            // URLs from users or other servers
    ///     configuration.addressPolicy = .publicOnly.allowing("10.1.0.0/16")    // the same, and one internal network
    ///
    /// It protects against server-side request forgery (SSRF): a server that fetches URLs from its users must not
    /// connect to its own machine, its network or the metadata service of its cloud. The transport checks the policy
    /// for each connection, with the address to which it is about to connect. The check therefore covers every source
    /// of the address: a literal in any spelling, a name, a name whose address changes between two lookups, a redirect,
    /// and an override. No byte is sent to a refused address. If a name has several addresses, the transport uses the
    /// allowed ones. If none is allowed, the call fails with `.refused(by: .addressPolicy)`, which is never retried.
    ///
    /// The policy is checked once per connection; open connections stay open. Responses from a cache need no
    /// connection.
    ///
    /// With a proxy the transport sees only the proxy's address, and with a Unix domain socket none. If a policy is
    /// combined with either, every call therefore throws `.configuration`. Restrict the addresses in the proxy instead.
    /// URLSession supports no policy.
    public struct AddressPolicy: Hashable, Sendable {
        private enum Rule: Hashable, Sendable {
            case everything
            case publicOnly
            case asking(Predicate)
        }

        private let rule: Rule
        private var allowed: [IPNetwork] = []
        private var refused: [IPNetwork] = []
        private var unreadable: [String] = []

        /// A policy that allows all addresses.
        public static let everything = TransportConfiguration.AddressPolicy(rule: .everything)

        /// A policy that allows only addresses of the public internet (`IPAddress.isPublic`).
        ///
        /// In a network that reaches IPv4 through its own NAT64 prefix (RFC 6052 §2.2), refuse that prefix explicitly:
        /// it cannot be detected.
        public static let publicOnly = TransportConfiguration.AddressPolicy(rule: .publicOnly)

        /// Returns a policy that allows the addresses for which `allows` returns true; the lists of `allowing` and
        /// `refusing` take precedence. Two such policies are equal if one is a copy of the other.
        ///
        /// The closure runs on the transport's event loop, so it must return without waiting.
        public static func asking(_ allows: @escaping @Sendable (_ address: IPAddress) -> Bool) -> AddressPolicy {
            AddressPolicy(rule: .asking(Predicate(allows)))
        }

        /// Returns a policy that also allows these addresses and networks: `"127.0.0.1"`, `"10.1.0.0/16"`. With text
        /// that cannot be parsed, every call throws `.configuration`.
        public func allowing(_ networks: String...) -> TransportConfiguration.AddressPolicy {
            var copy = self
            copy.allowed += copy.read(networks)
            return copy
        }

        /// Returns a policy that refuses these addresses and networks, even if they are allowed elsewhere, and the IPv6
        /// addresses that embed them (NAT64, 6to4). With text that cannot be parsed, every call throws
        /// `.configuration`.
        public func refusing(_ networks: String...) -> TransportConfiguration.AddressPolicy {
            var copy = self
            copy.refused += copy.read(networks)
            return copy
        }

        /// Returns whether the transport may connect to `address`.
        public func allows(_ address: IPAddress) -> Bool { objection(to: address) == nil }

        /// Returns the reason why the transport may not connect to `address`; nil if it may.
        package func objection(to address: IPAddress) -> String? {
            let addresses = [address] + address.embeddedAddresses
            if refused.contains(where: { addresses.contains(where: $0.contains) }) { return "refused by name" }
            if allowed.contains(where: { $0.contains(address) }) { return nil }
            return switch rule {
            case .everything: nil
            case .publicOnly: address.reservation
            case .asking(let predicate): predicate.allows(address) ? nil : "refused by the app"
            }
        }

        private mutating func read(_ texts: [String]) -> [IPNetwork] {
            texts.compactMap { text in
                if let network = IPNetwork(text) { return network }
                unreadable.append(text)
                return nil
            }
        }

        var problems: [String] {
            unreadable.map {
                "TransportConfiguration.AddressPolicy: \"\($0.clipped(to: 80).printable)\" is not an address or network. Write 10.1.0.0/16 or ::1."
            }
        }
    }
}

/// A closure with an identity, so that policies with a closure can be compared.
private final class Predicate: Hashable, Sendable {
    let allows: @Sendable (IPAddress) -> Bool

    init(_ allows: @escaping @Sendable (IPAddress) -> Bool) {
        self.allows = allows
    }

    static func == (left: Predicate, right: Predicate) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
