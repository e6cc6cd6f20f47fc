// SPDX-License-Identifier: MIT

/// The client's ends of the connections to a server in the same process: what has reached them, read or not.
///
/// Only with this can a test assert that bytes arrived before a request began. That `write` has returned does not prove
/// it, nor does an empty send queue, which the client's acknowledgement may leave for 40 ms.
struct ClientSockets {
    let serverPort: Int
    private var descriptors: [Int: Int32] = [:]

    init(to serverPort: Int) {
        self.serverPort = serverPort
    }

    /// Waits until the client's system has everything that was written to these connections, and knows of their end
    /// where they have ended. False after ten seconds.
    mutating func haveReceived(_ written: [Written]) async -> Bool {
        if written.contains(where: { descriptors[$0.clientPort] == nil }) { find() }
        let end = ContinuousClock.now + .seconds(10)
        for one in written {
            // Without a socket the client has closed it, and takes nothing from there any more.
            while let socket = descriptors[one.clientPort] {
                let hasReceived = Self.hasReceived(one, socket)
                // Asked last: then the response was about the right socket. Numbers come again, and so do ports.
                if LoopbackPort.ownPort(of: socket) != one.clientPort {
                    find()
                } else if hasReceived {
                    break
                }
                guard ContinuousClock.now < end else { return false }
                await Task.yield()
            }
        }
        return true
    }

    /// What a server has done to a connection so far.
    struct Written {
        let clientPort: Int
        let bytes: Int
        var hasEnded = false
    }

    /// `POLLRDHUP`, which Swift does not import.
    private static let peerEnded: Int32 = 0x2000

    private static func hasReceived(_ written: Written, _ socket: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN | Self.peerEnded), revents: 0)
        let count = poll(&entry, 1, 0)
        let received = Self.received(on: socket)
        let hasEnded = count > 0 && Int32(entry.revents) & (Self.peerEnded | POLLHUP | POLLERR) != 0
        return hasEnded || (!written.hasEnded && received >= UInt64(written.bytes))
    }

    /// `tcpi_bytes_received` of `TCP_INFO`, which the C library's header does not know.
    private static func received(on socket: Int32) -> UInt64 {
        var info = [UInt64](repeating: 0, count: 32)
        var length = socklen_t(info.count * MemoryLayout<UInt64>.size)
        let code = getsockopt(socket, Int32(IPPROTO_TCP), Int32(TCP_INFO), &info, &length)
        return code == 0 ? info[16] : 0
    }

    private mutating func find() {
        descriptors = [:]
        for socket in 0..<Int32(4096) where LoopbackPort.peerPort(of: socket) == serverPort {
            descriptors[LoopbackPort.ownPort(of: socket)] = socket
        }
    }
}

/// Keeps the thread of an event loop in one place, so that all that happens in the meantime reaches it in one turn.
final class LoopHold: Sendable {
    private let transport: CurlTransport
    private let server: RawServer
    private let permits = DispatchSemaphore(value: 0)
    private let release = Locked<Signal?>(nil)

    /// The transport must have one event loop only.
    init(_ transport: CurlTransport) throws {
        self.transport = transport
        server = try RawServer { [permits] connection in
            while true {
                _ = try connection.readHead()
                permits.wait()
                try connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
    }

    /// Returns when the loop stands still.
    func begin() async {
        let (held, release) = (Signal(), Signal())
        self.release.withLock { $0 = release }
        Task(executorPreference: InlineExecutor()) {
            _ = try? await self.transport.exchange(.get, self.server.url + "/")
            held.fire()
            release.block()
        }
        // Not before: the task waits for the response now, and goes on with it on the loop's thread, and on no other.
        permits.signal()
        await held.wait()
    }

    /// Lets the loop go on. Nothing happens if it does.
    func end() {
        release.withLock { $0 }?.fire()
    }
}
