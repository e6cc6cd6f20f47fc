// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// A proxy on loopback that takes every name for this machine and notes what it is asked.
///
/// - HTTP: tunnels CONNECT; answers other requests itself, with their first line as the body.
/// - SOCKS5: tunnels, with names only.
package final class LoopbackProxy: Sendable {
    package enum Kind: Sendable {
        case http, socks5
    }

    /// What the client has to send: `user` and `password`.
    package static let credentials = (user: "user", password: "pass word")

    private let server: RawServer
    private let heads: Locked<[String]>

    /// With `refusal` it connects to nothing: a status, or a code of SOCKS (RFC 1928 §6).
    package init(_ kind: Kind, needsCredentials: Bool = false, refusal: Int? = nil) throws {
        let heads = Locked<[String]>([])
        self.heads = heads
        server = try RawServer { client in
            switch kind {
            case .http: try Self.serveHTTP(client, heads, needsCredentials, refusal)
            case .socks5: try Self.serveSOCKS(client, heads, needsCredentials, refusal)
            }
        }
    }

    package var port: Int { server.port }
    /// What clients asked: heads of HTTP requests, `name:port` of SOCKS.
    package var asked: [String] { heads.withLock { $0 } }

    private static func serveHTTP(
        _ client: RawConnection, _ heads: Locked<[String]>, _ needsCredentials: Bool, _ refusal: Int?
    ) throws {
        let head = try client.readHead()
        heads.withLock { $0.append(head) }
        let text = "\(credentials.user):\(credentials.password)"
        let expected = "Proxy-Authorization: Basic " + Data(text.utf8).base64EncodedString() + "\r\n"
        guard !needsCredentials || head.contains(expected) else {
            return try client.write(
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\n"
                    + "Content-Length: 0\r\n\r\n")
        }
        if let refusal {
            return try client.write("HTTP/1.1 \(refusal) Refused\r\nContent-Length: 0\r\n\r\n")
        }
        let line = head.prefix { $0 != "\r\n" }
        let words = line.split(separator: " ")
        guard words[0] == "CONNECT" else {
            return try client.write("HTTP/1.1 200 OK\r\nContent-Length: \(line.utf8.count)\r\n\r\n\(line)")
        }
        guard let port = words[1].split(separator: ":").last.flatMap({ Int($0) }) else { throw RawConnection.Gone() }
        let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
        try client.write("HTTP/1.1 200 Connected\r\n\r\n")
        relay(client, upstream)
    }

    private static func serveSOCKS(
        _ client: RawConnection, _ heads: Locked<[String]>, _ needsCredentials: Bool, _ refusal: Int?
    ) throws {
        let methods = try client.read(Int(client.read(2)[1]))
        if needsCredentials {
            guard methods.contains(2) else { return try client.write(Data([5, 0xFF])) }
            try client.write(Data([5, 2]))
            let user = try client.read(Int(client.read(2)[1]))
            let password = try client.read(Int(client.read(1)[0]))
            let isRight = user == Data(credentials.user.utf8) && password == Data(credentials.password.utf8)
            try client.write(Data([1, isRight ? 0 : 1]))
            guard isRight else { return }
        } else {
            try client.write(Data([5, 0]))
        }
        let kind = try client.read(4)[3]
        guard kind == 3 else { throw RawConnection.Gone() }
        let name = String(decoding: try client.read(Int(client.read(1)[0])), as: UTF8.self)
        let bytes = try client.read(2)
        let port = Int(bytes[0]) << 8 | Int(bytes[1])
        heads.withLock { $0.append("\(name):\(port)") }
        if let refusal { return try client.write(Data([5, UInt8(refusal), 0, 1, 0, 0, 0, 0, 0, 0])) }
        let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
        try client.write(Data([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        relay(client, upstream)
    }

    private static func relay(_ client: RawConnection, _ upstream: RawConnection) {
        Thread {
            while let bytes = try? upstream.read(upTo: 65_536) { try? client.write(bytes) }
            client.breakOff()
        }.start()
        while let bytes = try? client.read(upTo: 65_536) { try? upstream.write(bytes) }
        upstream.breakOff()
    }
}
