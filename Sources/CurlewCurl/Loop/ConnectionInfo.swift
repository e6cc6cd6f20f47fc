// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

extension Transfer {
    /// Records that the connection is ready and the request is about to be sent.
    func noteReady(on name: ConnectionName?, localAddress: @autoclosure () -> String?) {
        guard let easy else { return }
        multi?.noteConnection(of: self, easy, name, localAddress)
        guard plan.context.observesConnections else { return }
        // Without TLS, no callback has reported that the connection is open.
        noteOpening()
        if connection.becomesReady(), let tls = connection.info?.tls {
            carrier?.add(.event(self, .connecting(.secured(tls))))
        }
        carrier?.add(.event(self, .connecting(.ready(connection.info ?? ExchangeMetrics.Connection()))))
    }

    /// Records that libcurl tries this address.
    func noteTrying(_ address: @autoclosure () -> String) {
        guard plan.context.observesConnections else { return }
        connection.tries()
        carrier?.add(.event(self, .connecting(.trying(address: address()))))
    }

    func noteOpening() {
        guard connection.opens() else { return }
        carrier?.add(.event(self, .connecting(.opened)))
    }
}

extension MultiHandle {
    /// Finds the connection of `transfer` by the addresses and ports of its ends, or adds it.
    fileprivate func noteConnection(
        of transfer: Transfer, _ easy: EasyHandle, _ name: ConnectionName?, _ localAddress: () -> String?
    ) {
        guard let socket = name.flatMap({ poller.known[$0] }) ?? newSocket(of: transfer, name) else { return }
        if name != nil {
            transfer.connection.socket = socket
            poller.beginUse(of: socket)
        }
        if poller.info(of: socket) == nil {
            let tls = transfer.plan.request.origin.isSecure ? easy.handshake() : nil
            let info = ExchangeMetrics.Connection(
                id: ExchangeMetrics.Connection.nextNumber(), localAddress: localAddress(), tls: tls)
            poller.note(info, name, of: socket)
        }
        if transfer.wantsCertificates, let info = poller.info(of: socket), var tls = info.tls, tls.certificates.isEmpty
        {
            tls.certificates = ServerCheck.certificates(of: curlew_presented_certificates(easy.pointer))
            let full = ExchangeMetrics.Connection(id: info.id, localAddress: info.localAddress, tls: tls)
            poller.note(full, name, of: socket)
        }
        transfer.connection.info = poller.info(of: socket)
    }

    /// Returns the known properties of the transfer's connection. A connection to a Unix domain socket has no name, so
    /// a later request cannot find it. Its socket is requested from libcurl, which must search for it, so
    /// this happens only for the metrics.
    func connectionInfo(of transfer: Transfer, _ easy: EasyHandle) -> ExchangeMetrics.Connection? {
        if let info = transfer.connection.info { return info }
        guard transfer.plan.owner.configuration.unixSocket != nil else { return nil }
        return poller.info(of: transfer.connection.socket ?? curlew_info_socket(easy.pointer, CURLINFO_ACTIVESOCKET))
    }

    /// Returns the socket of a connection that has not been used yet, or nil if it cannot be determined. Usually it is
    /// the last socket that libcurl announced for the transfer. If libcurl tried several concurrently, it may be
    /// another one.
    private func newSocket(of transfer: Transfer, _ name: ConnectionName?) -> Int32? {
        let announced = transfer.connection.socket.flatMap { poller.isOpen($0) ? $0 : nil }
        // A Unix domain socket connects immediately, so no other socket can be opened in between.
        guard let name else {
            return announced ?? poller.latest.flatMap { poller.info(of: $0) == nil ? $0 : nil }
        }
        if let announced, poller.name(of: announced) == name { return announced }
        return poller.socket(of: name)
    }
}

extension Transfer {
    fileprivate var wantsCertificates: Bool {
        plan.request.origin.isSecure && (plan.context.isObserved || plan.context.options.peerCertificates == true)
    }
}

extension EasyHandle {
    /// Returns the TLS parameters of the handle's current connection; unknown parameters are nil.
    fileprivate func handshake() -> ExchangeMetrics.Connection.TLS? {
        var handshake = curlew_handshake(version: nil, cipher_suite: nil, is_resumed: -1)
        guard curlew_read_handshake(pointer, &handshake) != 0 else { return ExchangeMetrics.Connection.TLS() }
        let version: ExchangeMetrics.Connection.TLS.Version? =
            switch handshake.version.map({ String(cString: $0) }) {
            case "TLSv1.2": .v12
            case "TLSv1.3": .v13
            default: nil
            }
        return ExchangeMetrics.Connection.TLS(
            version: version, cipherSuite: handshake.cipher_suite.map { String(cString: $0) },
            isResumed: handshake.is_resumed < 0 ? nil : handshake.is_resumed == 1)
    }
}

/// The number that was assigned to a connection last. All transports in the process share it.
private let lastNumber = Atomic<UInt64>(0)

extension ExchangeMetrics.Connection {
    /// Returns the number for a new connection: libcurl numbers connections only from 8.2 on.
    static func nextNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Formats an address and a port: `127.0.0.1:80`, `[::1]:80`.
    static func addressText(_ address: String, _ port: Int) -> String {
        address.holds(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
#endif
