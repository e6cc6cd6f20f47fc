// SPDX-License-Identifier: MIT

@testable import CurlewTesting

/// A blocking socket that knows next to nothing of HTTP, so that it hides nothing. Gives up after ten seconds.
final class RawClient {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    struct Refused: Error {}

    /// How a connection ended.
    enum Ending: Equatable {
        case orderly
        case reset
        case timeout
    }

    struct Response {
        var head: String
        var body: String
        var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    }

    init(port: Int, isIPv6: Bool = false) throws {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, LoopbackSocket.stream, 0)
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        #if canImport(Darwin)
        // Elsewhere each call of `send` says that it wants no signal.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        let answer = LoopbackSocket.withLoopback(isIPv6 ? .ipv6 : .ipv4, port: port) { connect(descriptor, $0, $1) }
        if answer != 0 { throw Refused() }
    }

    deinit {
        close(descriptor)
    }

    /// Ends the request side.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    @discardableResult
    func send(_ text: String) -> RawClient {
        send(Array(text.utf8))
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> RawClient {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { LoopbackSocket.transmit(descriptor, $0) } ?? 0
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return self
    }

    func get(_ target: String, fields: String = "") -> Response {
        send("GET \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n").response()
    }

    /// Reads one response with a Content-Length; the body is empty without one.
    func response(hasContent: Bool = true) -> Response {
        let head = readHead()
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        return Response(head: head, body: hasContent ? read(length) : "")
    }

    /// Reads up to the end of a head, its empty line included; what there is if the connection ends before.
    func readHead() -> String {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let place = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) { return take(place + 4) }
            guard fill() == nil else { return take(buffer.count) }
        }
    }

    /// Reads this many bytes, fewer if the connection ends.
    func read(_ count: Int) -> String {
        while buffer.count < count, fill() == nil {}
        return take(min(count, buffer.count))
    }

    /// Reads until the connection ends, and says how it did.
    func readToEnd() -> (text: String, ending: Ending) {
        while true {
            if let ending = fill() { return (take(buffer.count), ending) }
        }
    }

    /// Reads what has arrived, at least one byte; nil at the end of the connection.
    func piece() -> Data? {
        if buffer.isEmpty, fill() != nil { return nil }
        defer { buffer = [] }
        return Data(buffer)
    }

    private func take(_ count: Int) -> String {
        defer { buffer.removeFirst(count) }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    private func fill() -> Ending? {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count > 0 {
            buffer += piece[..<count]
            return nil
        }
        if count == 0 { return .orderly }
        return errno == ECONNRESET || errno == EPIPE ? .reset : .timeout
    }
}

/// Whether this system can listen on `::1`.
enum LoopbackIPv6 {
    static let isThere = (try? LoopbackSocket.openListener(.ipv6, port: 0)).map { close($0.0) } != nil
}
