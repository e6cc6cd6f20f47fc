// SPDX-License-Identifier: MIT

import Foundation

/// Where uploads go: a server that throws bodies away as fast as they come, and answers 204 when it has all of one.
/// nginx alone would write them to a file, or throw them away in steps of four kilobytes.
enum Sink {
    /// Prints its port and serves until its standard input ends. One thread for each connection; there are few.
    static func run() throws {
        let (listener, port) = try Sockets.listening()
        print(port)
        fflush(nil)
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection >= 0 { Thread.detachNewThread { serve(connection) } }
            }
        }
        while read(0, UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1), 1) > 0 {}
    }

    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { room.deallocate() }
        var pending = Data()
        while let head = receiveHead(connection, room, &pending) {
            if head.value("expect") != nil { send(connection, "HTTP/1.1 100 Continue\r\n\r\n") }
            guard discard(head, connection, room, &pending) else { return }
            send(connection, "HTTP/1.1 204 No Content\r\n\r\n")
        }
    }

    /// The lines of a head, in lower case.
    private struct Head {
        let lines: [Substring]

        func value(_ name: String) -> Substring? {
            lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1)
        }
    }

    private static func receiveHead(
        _ connection: Int32, _ room: UnsafeMutableRawBufferPointer, _ pending: inout Data
    ) -> Head? {
        while true {
            if let end = pending.range(of: Data("\r\n\r\n".utf8)) {
                let text = String(decoding: pending[..<end.lowerBound], as: UTF8.self).lowercased()
                pending = Data(pending[end.upperBound...])
                return Head(lines: text.split(separator: "\r\n"))
            }
            let count = recv(connection, room.baseAddress, room.count, 0)
            guard count > 0, pending.count < 1 << 16 else { return nil }
            pending.append(contentsOf: room.prefix(count))
        }
    }

    private static func discard(
        _ head: Head, _ connection: Int32, _ room: UnsafeMutableRawBufferPointer, _ pending: inout Data
    ) -> Bool {
        if head.value("transfer-encoding") != nil { return discardChunks(connection, room, &pending) }
        guard let length = head.value("content-length") else { return true }
        guard var left = Int(length.drop { $0 == " " }) else { return false }
        let here = min(left, pending.count)
        pending = Data(pending.dropFirst(here))
        left -= here
        while left > 0 {
            #if os(Linux)
            // The system drops the bytes without copying them.
            let count = recv(connection, room.baseAddress, min(left, room.count), Int32(MSG_TRUNC))
            #else
            let count = recv(connection, room.baseAddress, min(left, room.count), 0)
            #endif
            guard count > 0 else { return false }
            left -= count
        }
        return true
    }

    /// Only as exact as the clients of the benchmarks need: they send one request at a time, so the body ends where the
    /// bytes end with the last chunk.
    private static func discardChunks(
        _ connection: Int32, _ room: UnsafeMutableRawBufferPointer, _ pending: inout Data
    ) -> Bool {
        let end = Data("\r\n0\r\n\r\n".utf8)
        var tail = pending
        pending = Data()
        while Data(tail.suffix(end.count)) != end, tail != end.dropFirst(2) {
            let count = recv(connection, room.baseAddress, room.count, 0)
            guard count > 0 else { return false }
            tail = Data(tail.suffix(end.count)) + room.prefix(count).suffix(end.count)
        }
        return true
    }

    private static func send(_ connection: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        _ = write(connection, bytes, bytes.count)
    }
}
