// SPDX-License-Identifier: MIT

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
#endif
