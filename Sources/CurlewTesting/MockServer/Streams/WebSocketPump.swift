// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams

/// Carries the bytes of a WebSocket connection in both directions, on the thread of the connection.
struct WebSocketPump {
    private let socket: Int32
    private let core: MockServerCore
    private let peer: ServedWebSocket
    /// The bytes that the system has not accepted, from `sent`.
    private var pending = Data()
    private var sent = 0
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ peer: ServedWebSocket, on socket: Int32, core: MockServerCore) {
        (self.peer, self.socket, self.core) = (peer, socket, core)
    }

    /// Runs the script, and returns how the connection is to end. Returns nil if the client has ended it, or the server
    /// stops.
    ///
    /// - `first`: the bytes that the client sent directly after its request.
    mutating func run(_ script: MockSocketScript, first: Data) -> MockResponse.Interruption? {
        let task = script.start(on: peer)
        defer {
            peer.inbox.finish()
            peer.channel.output.close()
            task.cancel()
        }
        peer.receive(first)
        while true {
            peer.channel.pipe.drain()
            if pending.isEmpty { (pending, sent) = (peer.channel.output.take(), 0) }
            if pending.isEmpty, let ending = peer.channel.output.ending {
                if case .interrupted(let interruption) = ending { return interruption }
                return .close
            }
            let isReading = peer.isReading
            let wanted = (isReading ? Int32(POLLIN) : 0) | (pending.isEmpty ? 0 : Int32(POLLOUT))
            let (wake, events) = core.stopSignal.wait(
                for: wanted, on: socket, or: peer.channel.pipe, until: peer.deadline)
            switch wake {
            case .stopped: return nil
            case .timedOut: return .close
            case .ready: break
            }
            if !pending.isEmpty, !send() { return nil }
            if isReading, events & Int32(POLLIN | POLLHUP | POLLERR) != 0 {
                guard receive() else { return nil }
            } else if events & Int32(POLLHUP | POLLERR) != 0 {
                return nil
            }
        }
    }

    /// Sends what the system accepts now. Returns false if the connection is broken.
    private mutating func send() -> Bool {
        let count = pending.withUnsafeBytes { bytes in
            LoopbackSocket.transmit(socket, UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        }
        guard let count else { return false }
        sent += count
        core.addSentBytes(count)
        guard sent == pending.count else { return true }
        (pending, sent) = (Data(), 0)
        peer.channel.output.hasSent()
        return true
    }

    /// Receives what has arrived. Returns false if the client has ended the connection.
    private mutating func receive() -> Bool {
        let received = buffer.withUnsafeMutableBytes { LoopbackSocket.receive(socket, into: $0) }
        switch received {
        case .bytes(let count): peer.receive(Data(buffer[..<count]))
        case .nothing: break
        case .closed: return false
        }
        return true
    }
}
