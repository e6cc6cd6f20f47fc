// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// The known properties of the open connections of one event loop, by socket. Used only on the loop's thread.
///
/// libcurl numbers connections only from 8.2 on. So the transport assigns a number itself when a connection is ready
/// for its first request. Later requests find the connection by the addresses and ports of its ends.
struct ConnectionBook {
    /// The properties of a connection and its name; the name is nil for a Unix domain socket.
    private struct Entry {
        var info: ExchangeMetrics.Connection
        let name: ConnectionName?
        var hasCertificates = false
    }

    private var entries: [Int32: Entry] = [:]
    private var sockets: [ConnectionName: Int32] = [:]
    /// The socket that was opened last.
    private(set) var latest: Int32?

    /// The number that was assigned last. All transports in the process share it.
    private static let last = Atomic<UInt64>(0)

    static func nextNumber() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

    func socket(of name: ConnectionName) -> Int32? { sockets[name] }

    func info(of socket: Int32) -> ExchangeMetrics.Connection? { entries[socket]?.info }

    /// Adds a connection that is ready for its first request.
    mutating func add(
        _ socket: Int32, _ name: ConnectionName?, localAddress: String?, tls: ExchangeMetrics.Connection.TLS?
    ) {
        forget(socket)
        let id = Self.nextNumber()
        entries[socket] = Entry(
            info: ExchangeMetrics.Connection(id: id, localAddress: localAddress, tls: tls), name: name)
        if let name { sockets[name] = socket }
    }

    /// Adds the server's certificates to a TLS connection. `read` is called at most once for each connection.
    mutating func addCertificates(to socket: Int32, read: () -> [ExchangeMetrics.Connection.PeerCertificate]) {
        guard let entry = entries[socket], !entry.hasCertificates, var tls = entry.info.tls else { return }
        tls.certificates = read()
        entries[socket]?.info = ExchangeMetrics.Connection(
            id: entry.info.id, localAddress: entry.info.localAddress, tls: tls)
        entries[socket]?.hasCertificates = true
    }

    /// Records a new socket. Removes an earlier socket with the same descriptor.
    mutating func opened(_ socket: Int32) {
        forget(socket)
        latest = socket
    }

    /// Removes a socket that was closed.
    mutating func forget(_ socket: Int32) {
        guard let entry = entries.removeValue(forKey: socket), let name = entry.name else { return }
        if sockets[name] == socket { sockets[name] = nil }
    }
}

extension Transfer {
    /// Records that the connection is ready and the request is about to be sent.
    func noteReady(on name: ConnectionName?, localAddress: @autoclosure () -> String?) {
        guard let easy else { return }
        multi?.noteConnection(of: self, easy, name, localAddress)
        guard plan.context.observesConnections else { return }
        // Without TLS, no callback has reported that the connection is open.
        noteOpening()
        if connection.becomesReady() {
            if let tls = connection.info?.tls { carrier?.add(.event(self, .connecting(.secured(tls)))) }
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

/// Called when libcurl is about to begin a TLS handshake.
func noteOpened(_ easy: UnsafeMutableRawPointer?) {
    guard let easy, let transfer = curlew_info_pointer(easy, CURLINFO_PRIVATE) else { return }
    Unmanaged<Transfer>.fromOpaque(transfer)._withUnsafeGuaranteedRef { $0.noteOpening() }
}

extension MultiHandle {
    /// Finds the connection of `transfer` in the book, or adds it.
    fileprivate func noteConnection(
        of transfer: Transfer, _ easy: EasyHandle, _ name: ConnectionName?, _ localAddress: () -> String?
    ) {
        guard let socket = name.flatMap({ handles.book.socket(of: $0) }) ?? newSocket(of: transfer, name) else {
            return
        }
        if name != nil { poller.beginUse(of: socket) }
        if handles.book.info(of: socket) == nil {
            let tls = transfer.plan.request.origin.isSecure ? easy.handshake() : nil
            handles.book.add(socket, name, localAddress: localAddress(), tls: tls)
        }
        if transfer.wantsCertificates {
            handles.book.addCertificates(to: socket) {
                ServerCheck.certificates(of: curlew_presented_certificates(easy.pointer))
            }
        }
        transfer.connection.info = handles.book.info(of: socket)
    }

    /// Returns the known properties of the transfer's connection. A connection to a Unix domain socket has no name, so
    /// a later request cannot find it in the book. Its socket is requested from libcurl, which must search for it, so
    /// this happens only for the metrics.
    func connectionInfo(of transfer: Transfer, _ easy: EasyHandle) -> ExchangeMetrics.Connection? {
        if let info = transfer.connection.info { return info }
        guard transfer.plan.owner.configuration.unixSocket != nil else { return nil }
        return handles.book.info(of: transfer.connection.socket ?? curlew_info_socket(easy.pointer))
    }

    /// Returns the socket of a connection that is not in the book, or nil if it cannot be determined. Usually it is the
    /// last socket that libcurl announced for the transfer. If libcurl tried several concurrently, it may be another
    /// one.
    private func newSocket(of transfer: Transfer, _ name: ConnectionName?) -> Int32? {
        let announced = transfer.connection.socket.flatMap { poller.isOpen($0) ? $0 : nil }
        // A Unix domain socket connects immediately, so no other socket can be opened in between.
        guard let name else {
            return announced ?? handles.book.latest.flatMap { handles.book.info(of: $0) == nil ? $0 : nil }
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

extension ExchangeMetrics.Connection {
    /// Formats an address and a port: `127.0.0.1:80`, `[::1]:80`.
    static func addressText(_ address: String, _ port: Int) -> String {
        address.holds(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
#endif
