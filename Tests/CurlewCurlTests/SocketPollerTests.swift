// SPDX-License-Identifier: MIT

import CCurl
import Testing

@testable import CurlewCurl

/// What the system reports of sockets to the poller, without transfers: a test plays libcurl.
@Suite(.timeLimit(.minutes(1)))
struct SocketPollerTests {
    /// A poller and one connection that libcurl has opened through it.
    private final class Setup {
        let poller: SocketPoller
        let socket: Int32
        let peer: Int32
        private let multi: UnsafeMutableRawPointer
        private let wakeUp: Int32

        init() throws {
            _ = CurlLibrary.current
            wakeUp = eventfd(0, 0)
            multi = try #require(curl_multi_init())
            poller = try #require(SocketPoller(multi: multi, wakeUp: wakeUp))
            let (listener, port) = try LoopbackPort.listen(backlog: 1)
            socket = try LoopbackPort.connected(to: port)
            peer = accept(listener, nil, nil)
            close(listener)
            _ = poller.opened(socket)
        }

        deinit {
            curl_multi_cleanup(multi)
            for descriptor in [socket, peer, wakeUp] { close(descriptor) }
        }

        /// The peer sends a byte, which has arrived when this returns.
        func send() {
            _ = "x".withCString { write(peer, $0, 1) }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 10_000)
        }

        /// How many sockets the system reports.
        func events() -> Int {
            poller.wait(0)
            return poller.eventCount
        }

        /// The same after the poller has processed the earlier request to watch.
        func laterEvents() -> Int {
            for _ in 0..<2 where events() > 0 { poller.workOnSockets(at: 0) }
            return events()
        }

        /// True if the poller has ended the connection for reading and writing, with nothing left to read.
        var hasEnded: Bool {
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
                && Glibc.send(socket, &byte, 1, Int32(MSG_NOSIGNAL)) < 0
        }
    }

    private static let (readable, writable) = (EPOLLIN.rawValue, EPOLLOUT.rawValue)

    /// libcurl 8.5.0 goes on waiting for bytes for a transfer that is paused.
    @Test("Nothing is read from a held connection, whatever libcurl waits for")
    func held() throws {
        let setup = try Setup()
        setup.poller.want(Self.readable, at: setup.socket)
        #expect(setup.events() == 0)
        setup.poller.hold(setup.socket, true)
        setup.send()
        #expect(setup.laterEvents() == 0)
        for wish in [Self.readable, Self.readable | Self.writable, Self.readable, 0, Self.readable] {
            setup.poller.want(wish, at: setup.socket)
            let isWritable = wish & Self.writable != 0
            #expect(setup.laterEvents() == (isWritable ? 1 : 0), "libcurl waits for \(wish)")
        }
        setup.poller.hold(setup.socket, false)
        #expect(setup.events() == 1)
    }

    @Test("An idle connection on which bytes come has ended for libcurl", arguments: [true, false])
    func idle(wasReading: Bool) throws {
        let setup = try Setup()
        setup.poller.want(wasReading ? Self.readable : Self.writable, at: setup.socket)
        _ = setup.events()
        setup.poller.want(0, at: setup.socket)
        setup.poller.noteIdle(setup.socket)
        // Room to write is no reason to end it.
        #expect(setup.laterEvents() == 0 && !setup.hasEnded)
        setup.send()
        #expect(setup.events() == 1)
        setup.poller.workOnSockets(at: 0)
        #expect(setup.hasEnded)
        #expect(setup.events() == 0)
    }

    @Test("A reused connection is not idle, nor is one whose transfer is held")
    func usedAgain() throws {
        let setup = try Setup()
        setup.poller.want(Self.readable, at: setup.socket)
        setup.poller.want(0, at: setup.socket)
        setup.poller.noteIdle(setup.socket)
        let name = try #require(ConnectionName(of: setup.socket))
        #expect(setup.poller.socket(of: name) == setup.socket)
        // A transfer that begins and pauses within one call of libcurl's is not announced.
        setup.poller.hold(setup.socket, true)
        // The transfer before it is reported to be over only then.
        setup.poller.noteIdle(setup.socket)
        setup.send()
        _ = setup.laterEvents()
        setup.poller.hold(setup.socket, false)
        setup.poller.want(Self.readable, at: setup.socket)
        #expect(setup.events() == 1)
        var byte: UInt8 = 0
        let count = recv(setup.socket, &byte, 1, Int32(MSG_DONTWAIT))
        #expect(count == 1 && byte == UInt8(ascii: "x"))
    }

    /// A child that was forked has the connection too. `dup` is the same to the system.
    @Test("A closed connection is not reported, although another process still has it")
    func closed() throws {
        let setup = try Setup()
        setup.poller.want(Self.readable, at: setup.socket)
        #expect(setup.events() == 0)
        let copy = dup(setup.socket)
        defer { close(copy) }
        setup.poller.closed(setup.socket)
        close(setup.socket)
        defer { dup2(copy, setup.socket) }
        _ = "x".withCString { write(setup.peer, $0, 1) }
        var entry = pollfd(fd: copy, events: Int16(POLLIN), revents: 0)
        let arrived = poll(&entry, 1, 10_000)
        #expect(arrived == 1)
        #expect(setup.events() == 0)
    }

    @Test("The name of a connection is the one that libcurl reports", arguments: ["127.0.0.1", "::1"])
    func names(address: String) throws {
        let setup = try Setup()
        let name = try #require(ConnectionName(of: setup.socket))
        var (local, remote) = (sockaddr_in(), sockaddr_in())
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &local) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(setup.socket, $0, &length) }
        }
        withUnsafeMutablePointer(to: &remote) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(setup.socket, $0, &length) }
        }
        let ports = (Int32(UInt16(bigEndian: local.sin_port)), Int32(UInt16(bigEndian: remote.sin_port)))
        #expect((ConnectionName(address, ports.0, address, ports.1) == name) == (address == "127.0.0.1"))
        #expect(ConnectionName(of: -1) == nil)
    }
}
