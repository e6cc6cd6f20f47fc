// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// What observers receive while a connection is made.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionPhaseTests {
    /// The phases of one call, as words, and a way to wait for one.
    private final class Listener: RequestObserver {
        private let heard = Locked<[String]>([])
        private let awaited: String
        let signal = Signal()

        /// Another OpenSSL than the program's keeps its certificates to itself.
        private static func isWhole(_ tls: ExchangeMetrics.Connection.TLS) -> Bool {
            !tls.certificates.isEmpty || CurlLibrary.current.pathProblem != nil
        }

        init(awaiting word: String = "") { awaited = word }

        var words: [String] { heard.withLock { $0 } }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            switch event {
            case .sent: note("sent")
            case .connecting(.trying(let address)): note("trying \(address)")
            case .connecting(.opened): note("opened")
            case .connecting(.secured(let tls)): note(Self.isWhole(tls) ? "secured" : "secured bare")
            case .connecting(.ready(let connection)): note(connection.id == nil ? "ready unknown" : "ready")
            case .answered: note("answered")
            case .attemptFailed: note("failed")
            case .measured: note("measured")
            default: break
            }
        }

        private func note(_ word: String) {
            heard.withLock { $0.append(word) }
            if word == awaited { signal.fire() }
        }
    }

    @Test("A new connection is reported step by step, an existing one with one event")
    func plain() async throws {
        let server = try MockServer.always(.text("ok"))
        let transport = CurlTransport()
        let new = ["trying 127.0.0.1:\(server.port)", "opened", "ready", "measured"]
        var listeners: [Listener] = []
        for expected in [new, ["ready", "measured"]] {
            let listener = Listener()
            listeners.append(listener)
            _ = try await transport.exchange(.get, server.url + "/", observers: [listener]).text()
            #expect(listener.words == expected)
        }
        // Those who do not listen in between leave nothing behind.
        _ = try await transport.exchange(.get, server.url + "/").text()
        server.enqueue(.text("bye").closing())
        _ = try await transport.exchange(.get, server.url + "/").text()
        _ = try await transport.exchange(.get, server.url + "/").text()
        let listener = Listener()
        _ = try await transport.exchange(.get, server.url + "/", observers: [listener]).text()
        #expect(listener.words == ["ready", "measured"])
        #expect(listeners.map(\.words) == [new, ["ready", "measured"]])
    }

    @Test("With TLS the handshake is reported, with its parameters")
    func secure() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let listener = Listener()
        _ = try await transport.exchange(.get, nginx.secure() + "/empty", observers: [listener]).data()
        let rest = listener.words.drop { $0.hasPrefix("trying ") }
        #expect(rest.count < listener.words.count)
        #expect(Array(rest) == ["opened", "secured", "ready", "measured"])
    }

    @Test("An attempt that reaches no server is reported up to the phase that it reached")
    func refused() async throws {
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        let listener = Listener()
        await #expect(throws: NetworkError.self) {
            try await CurlTransport().exchange(.get, "http://127.0.0.1:\(port)/", observers: [listener])
        }
        #expect(listener.words == ["trying 127.0.0.1:\(port)", "measured"])
    }

    @Test("The phases of a handshake that hangs are reported while it does")
    func handshake() async throws {
        let configuration = try await Nginx.shared().configuration
        let server = try RawServer { $0.waitUntilClosed() }
        let listener = Listener(awaiting: "opened")
        let task = Task {
            try await CurlTransport(configuration: configuration)
                .exchange(.get, "https://127.0.0.1:\(server.port)/", observers: [listener])
        }
        await listener.signal.wait()
        task.cancel()
        _ = await task.result
        #expect(await eventually { listener.words.last == "measured" })
        #expect(listener.words == ["trying 127.0.0.1:\(server.port)", "opened", "measured"])
    }

    @Test("The phases are reported before the response arrives")
    func timeliness() async throws {
        let mayAnswer = Signal()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            mayAnswer.block()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitUntilClosed()
        }
        let listener = Listener(awaiting: "ready")
        let task = Task { try await CurlTransport().exchange(.get, server.url, observers: [listener]) }
        await listener.signal.wait()
        mayAnswer.fire()
        #expect(try await task.value.status == .ok)
    }

    @Test("The phases have the documented order, for calls of a client too")
    func order() async throws {
        let server = try MockServer.always(.text("ok"))
        let listener = Listener()
        let client = APIClient.curl(server.url, configuration: APIClient.Configuration(observers: [listener]))
        _ = try await client.send(Request<String>.get("/"))
        #expect(
            listener.words == [
                "sent", "trying 127.0.0.1:\(server.port)", "opened", "ready", "answered", "measured",
            ])
    }

    @Test("A Unix domain socket is tried by its path")
    func unixSocket() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: TransportConfiguration(unixSocket: nginx.socket))
        let listener = Listener()
        _ = try await transport.exchange(.get, "http://here/empty", observers: [listener]).data()
        #expect(listener.words == ["trying \(nginx.socket)", "opened", "ready", "measured"])
    }

    @Test("A request that is sent again over a new connection reports that too")
    func again() async throws {
        let server = try MockServer.always(.text("ok"))
        let transport = CurlTransport()
        _ = try await transport.exchange(.get, server.url + "/").text()
        server.enqueue(.text("lost").reset(at: .beforeHead))
        let listener = Listener()
        _ = try await transport.exchange(.get, server.url + "/", observers: [listener]).text()
        #expect(
            listener.words == ["ready", "trying 127.0.0.1:\(server.port)", "opened", "ready", "measured"])
    }
}
