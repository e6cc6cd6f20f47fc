// SPDX-License-Identifier: MIT

/// From where on this machine a transport connects, where there are several addresses or networks to choose from.
///
/// It holds for connections to servers and to proxies alike. An address connects to addresses of its own kind only: IPv4
/// to IPv4, IPv6 to IPv6. One that this machine does not have makes every call throw `.configuration`.
public enum LocalAddress: Hashable, Sendable {
    /// This address: `"192.0.2.7"`, `"2001:db8::7"`.
    case address(String)
    /// The network interface of this name, at most 15 bytes: `"eth0"`. Linux lets a program without special rights bind to
    /// one from version 5.7 on; before that the engine uses an address of the interface.
    case interface(String)

    /// What libcurl calls it.
    package var option: String {
        switch self {
        case .address(let address): "host!\(address)"
        case .interface(let name): "if!\(name)"
        }
    }

    /// What is wrong with it, without looking at the machine.
    fileprivate var problem: String? {
        switch self {
        case .address(let address):
            IPAddress(address) == nil ? "\"\(address.clipped(to: 60).printable)\" is no IP address." : nil
        case .interface(let name):
            // The system's structure has room for 16 bytes with a final zero; it allows neither slashes nor blanks.
            name.utf8.isEmpty || name.utf8.count > 15 || name.utf8.contains { $0 <= 0x20 || $0 == 0x2F || $0 == 0x7F }
                ? "\"\(name.clipped(to: 60).printable)\" is no name of a network interface." : nil
        }
    }
}

extension TransportConfiguration {
    var localProblems: [String] {
        guard let localAddress else { return [] }
        var problems = localAddress.problem.map { ["TransportConfiguration.localAddress: \($0)"] } ?? []
        if unixSocket != nil {
            problems.append("TransportConfiguration.localAddress and unixSocket exclude each other.")
        }
        return problems
    }
}
