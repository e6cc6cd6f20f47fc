// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
// CCurl's header also declares the socket types, and a release build requires the import.
import CCurl

enum NetworkInterfaces {
    /// Whether an interface other than the loopback interface is up and has an address that can reach another network.
    /// True if the system does not report interfaces.
    static var isAnyUp: Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            let (flags, needed) = (interface.ifa_flags, UInt32(Int(IFF_UP) | Int(IFF_RUNNING)))
            guard flags & needed == needed, flags & UInt32(Int(IFF_LOOPBACK)) == 0 else { continue }
            switch interface.ifa_addr?.pointee.sa_family {
            case sa_family_t(AF_INET): return true
            case sa_family_t(AF_INET6):
                // Link-local addresses, fe80::/10, exist without any network.
                let isLocal = interface.ifa_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
                }
                if !isLocal { return true }
            default: continue
            }
        }
        return false
    }
}
#endif
