// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Enforces `TransportConfiguration.addressPolicy`. libcurl requests a socket for each address immediately before it
/// connects, when no further lookup can change the address.
extension Transfer {
    /// Returns whether libcurl may connect to this address, and records the address if not. `address` is nil if it is
    /// neither IPv4 nor IPv6. Called from libcurl's callback.
    func mayConnect(to address: IPAddress?) -> Bool {
        guard plan.owner.configuration.addressPolicy != .everything else { return true }
        guard let address else {
            connection.refusedAddress = "an address of an unknown kind"
            return false
        }
        guard let objection = plan.owner.configuration.addressPolicy.objection(to: address) else { return true }
        connection.refusedAddress = "\(address) (\(objection))"
        return false
    }
}

extension CurlFailure {
    /// Returns the error for a transfer that ended because the address policy refused its addresses, or nil if it ended
    /// for another reason.
    static func addressRefusal(_ code: CURLcode, transfer: Transfer) -> NetworkError? {
        guard let refused = transfer.connection.refusedAddress,
            [CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK].contains(code)
        else { return nil }
        return NetworkError(
            .refused(by: .addressPolicy),
            detail: "\(transfer.plan.request.origin.host) has the address \(refused), to which "
                + "TransportConfiguration.addressPolicy allows no connection.",
            hint: "If the host belongs to you, allow its address: .publicOnly.allowing(\"10.1.0.0/16\").")
    }
}

extension UnsafePointer where Pointee == curl_sockaddr {
    /// The port of an IPv4 or IPv6 address. It has the same offset in both structures.
    var port: Int {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return 0 }
        let address = (UnsafeRawPointer(self) + offset).loadUnaligned(as: sockaddr_in.self)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

extension IPAddress {
    /// Creates an address from libcurl's structure, whose length depends on the family. Returns nil if the family is
    /// neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let (family, length) = (address.pointee.family, Int(address.pointee.addrlen))
        let bytes = UnsafeRawPointer(address) + offset
        switch family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let value = bytes.loadUnaligned(as: sockaddr_in.self)
            self.init(bytes: withUnsafeBytes(of: value.sin_addr) { Array($0) })
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let value = bytes.loadUnaligned(as: sockaddr_in6.self)
            self.init(bytes: withUnsafeBytes(of: value.sin6_addr) { Array($0) })
        default: return nil
        }
    }
}
#endif
