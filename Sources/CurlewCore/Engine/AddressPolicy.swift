// SPDX-License-Identifier: MIT

/// To which addresses a transport connects, whatever the name in the URL.
///
///     configuration.addressPolicy = .publicOnly                            // URLs that users or other servers write
///     configuration.addressPolicy = .publicOnly.allowing("10.1.0.0/16")    // ... and one network of ours
///
/// It guards against request forgery (SSRF): a server that fetches URLs of its users must not be talked into asking its
/// own machine, its network or the metadata service of its cloud. The transport asks the policy for each connection, with
/// the very address that it is about to connect to. So it makes no difference how the address came about: a literal in
/// any spelling, a name, a name whose address changes between two lookups, a redirect, an override. No byte goes to an
/// address that is refused. If a name has several addresses, the transport uses those that are allowed; without one
/// the call ends with `.refused(by: .addressPolicy)`, which is never retried.
///
/// A connection that is open stays open: the policy is asked once for each. Answers from a cache need no connection.
///
/// With a proxy the transport sees the proxy's address only, and with a Unix domain socket none: both together with a
/// policy are a problem of the configuration. Let the proxy keep a list of its own, and leave the policy out.
public struct AddressPolicy: Hashable, Sendable {
    private enum Rule: Hashable, Sendable {
        case everything
        case publicOnly
        case asking(Question)
    }

    private let rule: Rule
    private var allowed: [IPNetwork] = []
    private var refused: [IPNetwork] = []
    private var unreadable: [String] = []

    /// All addresses.
    public static let everything = AddressPolicy(rule: .everything)

    /// Addresses of the public internet (`IPAddress.isPublic`) only.
    ///
    /// A network that reaches IPv4 through a NAT64 prefix of its own (RFC 6052 §2.2) should refuse that prefix by name:
    /// nobody else knows it.
    public static let publicOnly = AddressPolicy(rule: .publicOnly)

    /// Those that `allows` says yes to. Two such policies are equal if one is a copy of the other.
    ///
    /// The closure is called on the engine's thread, which does nothing else meanwhile: it must not wait.
    public static func asking(_ allows: @escaping @Sendable (_ address: IPAddress) -> Bool) -> AddressPolicy {
        AddressPolicy(rule: .asking(Question(allows)))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// The same, and these addresses and networks as well: `"127.0.0.1"`, `"10.1.0.0/16"`. One that cannot be read is a
    /// problem of the configuration.
    public func allowing(_ networks: String...) -> AddressPolicy {
        var copy = self
        copy.allowed += copy.read(networks)
        return copy
    }

    /// The same without these addresses and networks, even if they are allowed elsewhere, and without those of IPv6 that
    /// lead there (NAT64, 6to4). One that cannot be read is a problem of the configuration.
    public func refusing(_ networks: String...) -> AddressPolicy {
        var copy = self
        copy.refused += copy.read(networks)
        return copy
    }

    /// Whether the transport may connect to `address`.
    public func allows(_ address: IPAddress) -> Bool { objection(to: address) == nil }

    /// Why the transport may not connect to `address`, in a few words; nil if it may.
    package func objection(to address: IPAddress) -> String? {
        let places = [address] + address.embeddedAddresses
        if refused.contains(where: { places.contains(where: $0.contains) }) { return "refused by name" }
        if allowed.contains(where: { $0.contains(address) }) { return nil }
        return switch rule {
        case .everything: nil
        case .publicOnly: address.reservation
        case .asking(let question): question.allows(address) ? nil : "refused by the app"
        }
    }

    private mutating func read(_ texts: [String]) -> [IPNetwork] {
        texts.compactMap { text in
            let network = IPNetwork(text)
            if network == nil { unreadable.append(text) }
            return network
        }
    }

    var problems: [String] {
        unreadable.map {
            "AddressPolicy: \"\($0.clipped(to: 80).printable)\" is no address or network. Write 10.1.0.0/16 or ::1."
        }
    }
}

/// A closure with an identity.
private final class Question: Hashable, Sendable {
    let allows: @Sendable (IPAddress) -> Bool

    init(_ allows: @escaping @Sendable (IPAddress) -> Bool) {
        self.allows = allows
    }

    static func == (left: Question, right: Question) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
