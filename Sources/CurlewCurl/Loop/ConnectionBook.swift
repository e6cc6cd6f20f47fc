// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// What is known of the open connections of one event loop, by their sockets. On the loop's thread only.
///
/// libcurl numbers connections only from 8.2 on, so the engine does it itself, when a connection is ready for its first
/// request. Later requests find it by the addresses and ports of its ends.
struct ConnectionBook {
    /// A connection, and the name under which it is found; nil for a Unix domain socket.
    private struct Entry {
        var info: ConnectionInfo
        let name: ConnectionName?
        var hasCertificates = false
    }

    private var entries: [Int32: Entry] = [:]
    private var sockets: [ConnectionName: Int32] = [:]
    /// The socket that was made last.
    private(set) var latest: Int32?

    /// Counts the connections of all transports of the process.
    private static let last = Atomic<UInt64>(0)

    func socket(of name: ConnectionName) -> Int32? { sockets[name] }

    func info(of socket: Int32) -> ConnectionInfo? { entries[socket]?.info }

    /// A connection is ready for the first time.
    mutating func add(_ socket: Int32, _ name: ConnectionName?, localAddress: String?, tls: ConnectionInfo.TLS?) {
        forget(socket)
        let id = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
        entries[socket] = Entry(info: ConnectionInfo(id: id, localAddress: localAddress, tls: tls), name: name)
        if let name { sockets[name] = socket }
    }

    /// The caller wants to see certificates: `read` is called once for each connection.
    mutating func addCertificates(to socket: Int32, read: () -> [PeerCertificate]) {
        guard let entry = entries[socket], !entry.hasCertificates, var tls = entry.info.tls else { return }
        tls.certificates = read()
        entries[socket]?.info = ConnectionInfo(id: entry.info.id, localAddress: entry.info.localAddress, tls: tls)
        entries[socket]?.hasCertificates = true
    }

    /// A socket is made, whose number may have been another one's.
    mutating func opened(_ socket: Int32) {
        forget(socket)
        latest = socket
    }

    /// The socket is closed.
    mutating func forget(_ socket: Int32) {
        guard let entry = entries.removeValue(forKey: socket), let name = entry.name else { return }
        if sockets[name] == socket { sockets[name] = nil }
    }
}

extension Transfer {
    /// The connection is there, and the request is about to leave on it.
    func noteReady(on name: ConnectionName?, localAddress: @autoclosure () -> String?) {
        guard let easy else { return }
        multi?.noteConnection(of: self, easy, name, localAddress)
        guard context.isObserved else { return }
        if hasTried {
            // Without TLS no callback has told.
            noteOpening()
            hasTried = false
            hasOpened = false
            if let tls = connectionInfo?.tls { multi?.add(.event(self, .connecting(.secured(tls)))) }
        }
        multi?.add(.event(self, .connecting(.ready(connectionInfo ?? ConnectionInfo()))))
    }

    /// libcurl has found addresses and tries this one.
    func noteTrying(_ address: @autoclosure () -> String) {
        guard context.isObserved else { return }
        hasTried = true
        hasOpened = false
        multi?.add(.event(self, .connecting(.trying(address: address()))))
    }

    fileprivate func noteOpening() {
        guard hasTried, !hasOpened else { return }
        hasOpened = true
        multi?.add(.event(self, .connecting(.opened)))
    }
}

/// Called when libcurl is about to begin a TLS handshake.
func noteOpened(_ easy: UnsafeMutableRawPointer?) {
    guard let easy, let transfer = curlew_info_pointer(easy, CURLINFO_PRIVATE) else { return }
    Unmanaged<Transfer>.fromOpaque(transfer)._withUnsafeGuaranteedRef { $0.noteOpening() }
}

extension MultiHandle {
    /// Finds the connection that `transfer` is on, or takes it into the book.
    fileprivate func noteConnection(
        of transfer: Transfer, _ easy: EasyHandle, _ name: ConnectionName?, _ localAddress: () -> String?
    ) {
        guard let socket = name.flatMap({ handles.book.socket(of: $0) }) ?? newSocket(of: transfer, name) else {
            return
        }
        if name != nil { poller.beginUse(of: socket) }
        if handles.book.info(of: socket) == nil {
            let tls = transfer.request.origin.isSecure ? easy.handshake() : nil
            handles.book.add(socket, name, localAddress: localAddress(), tls: tls)
        }
        if transfer.wantsCertificates {
            handles.book.addCertificates(to: socket) {
                ServerCheck.certificates(of: curlew_presented_certificates(easy.pointer))
            }
        }
        transfer.connectionInfo = handles.book.info(of: socket)
    }

    /// What is known of the transfer's connection. That of a Unix domain socket has no name to be found by when it is used
    /// again: libcurl, which has to search for it, is asked at the end.
    func connectionInfo(of transfer: Transfer, _ easy: EasyHandle) -> ConnectionInfo? {
        if let info = transfer.connectionInfo { return info }
        guard transfer.owner.configuration.unixSocket != nil else { return nil }
        return handles.book.info(of: transfer.socket ?? curlew_info_socket(easy.pointer))
    }

    /// The socket of a connection that is not in the book. Mostly the one that libcurl has announced for the transfer last;
    /// of several that were tried at the same time it may be another one.
    private func newSocket(of transfer: Transfer, _ name: ConnectionName?) -> Int32? {
        let announced = transfer.socket.flatMap { poller.isOpen($0) ? $0 : nil }
        // A Unix domain socket is open at once, without a wait in which another one could be made.
        guard let name else {
            return announced ?? handles.book.latest.flatMap { handles.book.info(of: $0) == nil ? $0 : nil }
        }
        if let announced, poller.name(of: announced) == name { return announced }
        return poller.socket(of: name)
    }
}

extension Transfer {
    fileprivate var wantsCertificates: Bool {
        request.origin.isSecure && (context.isObserved || context.options.peerCertificates == true)
    }
}

extension EasyHandle {
    /// What TLS agreed on for the connection that the handle has at the moment; nil if that is unknown.
    fileprivate func handshake() -> ConnectionInfo.TLS? {
        var handshake = curlew_handshake(version: nil, cipher_suite: nil, is_resumed: -1)
        guard curlew_read_handshake(pointer, &handshake) != 0 else { return ConnectionInfo.TLS() }
        let version: TLSVersion? =
            switch handshake.version.map({ String(cString: $0) }) {
            case "TLSv1.2": .v12
            case "TLSv1.3": .v13
            default: nil
            }
        return ConnectionInfo.TLS(
            version: version, cipherSuite: handshake.cipher_suite.map { String(cString: $0) },
            isResumed: handshake.is_resumed < 0 ? nil : handshake.is_resumed == 1)
    }
}

extension ConnectionInfo {
    /// Address and port in one text: `127.0.0.1:80`, `[::1]:80`.
    static func place(_ address: String, _ port: Int) -> String {
        address.holds(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
#endif
