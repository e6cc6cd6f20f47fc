// SPDX-License-Identifier: MIT

extension TransportConfiguration {
    /// The local address or network interface from which a transport connects.
    ///
    /// It applies to connections to servers and to proxies. An address connects only to addresses of its own family:
    /// IPv4 to IPv4, IPv6 to IPv6. An address that this machine does not have makes every call throw `.configuration`.
    public enum LocalAddress: Hashable, Sendable {
        /// A local address: `"192.0.2.7"`, `"2001:db8::7"`.
        case address(String)
        /// The network interface with this name, at most 15 bytes: `"eth0"`. Unprivileged programs can bind to an
        /// interface from Linux 5.7 on. On an older Linux, the transport uses an address of the interface.
        case interface(String)

        /// The value in libcurl's syntax.
        package var option: String {
            switch self {
            case .address(let address): "host!\(address)"
            case .interface(let name): "if!\(name)"
            }
        }

        /// The reason why the value is invalid, as far as can be checked without the system; nil if there is none.
        fileprivate var problem: String? {
            switch self {
            case .address(let address):
                IPAddress(address) == nil
                    ? "\"\(address.clipped(to: 60).printable)\" is not an IP address." : nil
            case .interface(let name):
                // The system's structure has room for 16 bytes, including the final zero. It allows neither slashes nor
                // blanks.
                name.utf8.isEmpty || name.utf8.count > 15
                    || name.utf8.contains { $0 <= 0x20 || $0 == 0x2F || $0 == 0x7F }
                    ? "\"\(name.clipped(to: 60).printable)\" is not the name of a network interface." : nil
            }
        }
    }
}

extension TransportConfiguration {
    var localProblems: [String] {
        guard let localAddress else { return [] }
        var problems = localAddress.problem.map { ["TransportConfiguration.localAddress: \($0)"] } ?? []
        if unixSocket != nil {
            problems.append("TransportConfiguration.localAddress and unixSocket are mutually exclusive.")
        }
        return problems
    }
}
