// SPDX-License-Identifier: MIT

import CTestSupport
import CurlewCore
package import Foundation

/// A loopback server whose script has the bare socket, for what `MockServer` does not do: writing until the client
/// stops reading, reading slowly, answering before the request is complete.
///
/// One thread for each connection; a script ends by returning or throwing, which closes the connection.
package final class RawServer: Sendable {
    package typealias Script = @Sendable (RawConnection) throws -> Void

    package let port: Int
    private let connections = Locked<[RawConnection]>([])
    /// Closing it ends the thread that accepts. To end the listening itself wakes that thread on Linux only.
    private let stop: Locked<Int32?>
    private let hasStopped = Signal()

    /// Listens at once. A small `receiveBuffer` lets a slow reader slow the sender soon.
    package init(receiveBuffer: Int32? = nil, _ script: @escaping Script) throws {
        let (listener, port) = try LoopbackPort.listen(backlog: 128, receiveBuffer: receiveBuffer)
        var ends: [Int32] = [-1, -1]
        guard loopback_pipe(&ends) == 0 else {
            Foundation.close(listener)
            throw LoopbackPort.Failure(call: "pipe", number: errno)
        }
        (self.port, stop) = (port, Locked(ends[1]))
        let connections = connections
        startThread { [stopped = ends[0], hasStopped] in
            Self.serve(listener, until: stopped, connections, script)
            hasStopped.fire()
        }
    }

    deinit {
        // Every thread waits in a call on one of these, which then returns.
        closeStop()
        connections.withLock { $0 }.forEach { $0.breakOff() }
    }

    /// Returns when the port is closed. The connections that there are stay open.
    package func stopListening() {
        closeStop()
        hasStopped.block()
    }

    private func closeStop() {
        if let stop = stop.withLock({ stop in
            defer { stop = nil }
            return stop
        }) {
            Foundation.close(stop)
        }
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var connectionCount: Int { connections.withLock { $0.count } }

    private static func serve(
        _ listener: Int32, until stopped: Int32, _ connections: Locked<[RawConnection]>, _ script: @escaping Script
    ) {
        defer {
            close(listener)
            close(stopped)
        }
        while true {
            let socket = loopback_accept(listener, stopped)
            guard socket >= 0 else { return }
            let connection = connections.withLock { all in
                let connection = RawConnection(socket, index: all.count)
                all.append(connection)
                return connection
            }
            startThread {
                try? script(connection)
                connection.close()
            }
        }
    }
}

/// The server's end of a connection. Calls block the script's thread and throw when the client has gone.
package final class RawConnection: Sendable {
    package struct Gone: Error {
        package init() {}
    }

    /// 0 for the server's first connection.
    package let index: Int
    private let state: Locked<(socket: Int32, written: Int)>

    package init(_ socket: Int32, index: Int) {
        self.index = index
        state = Locked((socket, 0))
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        LoopbackPort.silence(socket)
    }

    private var socket: Int32 { state.withLock { $0.socket } }

    /// Bytes that the system has taken from `write` so far.
    package var written: Int { state.withLock { $0.written } }

    /// The next `count` bytes, or fewer.
    package func read(upTo count: Int) throws -> Data {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(socket, &bytes, count, 0)
        guard received > 0 else { throw Gone() }
        return Data(bytes.prefix(received))
    }

    /// Everything up to and with the empty line after a head.
    package func readHead() throws -> String {
        var head = Data()
        while !head.suffix(4).elementsEqual(Data("\r\n\r\n".utf8)) { head += try read(upTo: 1) }
        return String(decoding: head, as: UTF8.self)
    }

    /// Exactly `count` bytes.
    package func read(_ count: Int) throws -> Data {
        var bytes = Data()
        while bytes.count < count { bytes += try read(upTo: min(count - bytes.count, 65_536)) }
        return bytes
    }

    package func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    package func write(_ bytes: Data) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, LoopbackPort.noSignal) }
            guard count > 0 else { throw Gone() }
            state.withLock { $0.written += count }
            rest = rest.dropFirst(count)
        }
    }

    /// The port of the client's end; 0 when the connection is over.
    package var peerPort: Int { LoopbackPort.peerPort(of: socket) }

    /// Writes no more, which the client detects; what it sends still arrives.
    package func endOutput() {
        state.withLock { state in
            if state.socket >= 0 { shutdown(state.socket, Int32(SHUT_WR)) }
        }
    }

    /// Lets time pass; throws as soon as the client has closed its end.
    package func pause(_ milliseconds: Int32) throws {
        if loopback_wait_for_end(socket, milliseconds) != 0 { throw Gone() }
    }

    /// Waits until the client has closed its end.
    package func waitUntilClosed() {
        try? pause(-1)
    }

    /// Closes with a reset.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    package func close() {
        state.withLock { state in
            if state.socket >= 0 { Foundation.close(state.socket) }
            state.socket = -1
        }
    }

    /// From another thread: calls of the script return and throw.
    package func breakOff() {
        state.withLock { state in
            if state.socket >= 0 { shutdown(state.socket, Int32(SHUT_RDWR)) }
        }
    }
}
