// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The opening request, close codes and errors, as URLSession takes and gives them.
@Suite(.timeLimit(.minutes(1)))
struct SocketValueTests {
    @Test(
        "The scheme is that of WebSocket, and nothing else of the URL changes",
        arguments: [
            ("http://a.example/chat?x=%20", "ws://a.example/chat?x=%20"),
            ("https://a.example:8443/", "wss://a.example:8443/"), ("http://127.0.0.1:80/", "ws://127.0.0.1/"),
        ])
    func url(url: String, expected: String) throws {
        let message = try SocketRequest.message(try HTTPRequest(.get, url: url), on: .apple)
        #expect(message.url?.absoluteString == expected)
        #expect(message.httpMethod == "GET")
    }

    @Test func theFieldsThatURLSessionWritesAreRemoved() throws {
        var request = try HTTPRequest(.get, url: "https://a.example/chat")
        request.headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
        request.headers["Sec-WebSocket-Version"] = "13"
        request.headers["Sec-WebSocket-Extensions"] = "permessage-deflate"
        request.headers["Sec-WebSocket-Protocol"] = "v2, v1"
        request.headers["Authorization"] = "Bearer t"
        request.headers["Cookie"] = "a=1"
        let message = try SocketRequest.message(request, on: .apple)
        // Foundation on Linux spells names in its own way.
        let fields = (message.allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }
        #expect(fields.sorted() == ["authorization: Bearer t", "cookie: a=1", "sec-websocket-protocol: v2, v1"])
        #expect(!message.httpShouldHandleCookies)
        #expect(message.timeoutInterval == SessionSettings.distantTimeout)
        #expect(SocketRequest.subprotocols(request) == ["v2", "v1"])
    }

    @Test func onLinuxTheErrorSaysWhatToDo() async throws {
        #expect(SocketRequest.problem(on: .apple) == nil)
        let problem = try #require(SocketRequest.problem(on: .linux))
        #expect(problem.hint == "Use CurlTransport.")
        #if !canImport(Darwin)
        var options = RequestOptions()
        options.upgrade = ProtocolUpgrade(output: OutgoingBytes(), messageLimit: 1)
        let context = ExchangeContext(options: options)
        let transport = URLSessionTransport()
        let error = await #expect(throws: NetworkError.self) {
            try await transport.send(try HTTPRequest(.get, url: "http://127.0.0.1:9/"), in: context)
        }
        #expect(error?.reason == .configuration && error?.hint == problem.hint)
        #expect(error?.request != nil)
        #expect(transport.snapshot.active == 0)
        #endif
    }

    @Test func closeCodesOfTheServer() throws {
        func closing(_ code: Int, _ reason: Data? = nil) throws -> SocketMachine.Closing? {
            try SocketClose.end(code, reason)?.get()
        }
        #expect(SocketClose.end(0, nil).map { _ in true } == nil)
        #expect(try closing(1000, Data("bye".utf8)) == SocketMachine.Closing(code: .normal, reason: "bye"))
        #expect(try closing(4999)?.code.rawValue == 4999)
        #expect(try closing(1005, Data("x".utf8)) == SocketMachine.Closing(code: .noStatus, reason: ""))
        for code in [1006, 1015] {
            #expect(thrownReason { try closing(code) } == .connectionLost(.requestMayHaveArrived))
        }
        for code in [-1, 1, 999, 1004, 1016, 2999, 5000, 70_000, .max] {
            let error = #expect(throws: NetworkError.self) { try closing(code) }
            #expect(error?.reason == .badResponse && error?.detail.contains("code \(code)") == true)
        }
        #expect(thrownReason { try closing(1000, Data([0xC3])) } == .badResponse)
    }

    @Test func closeCodesOfTheClient() {
        for code: WebSocketCloseCode in [.normal, .goingAway, .messageTooBig, .init(rawValue: 4001)] {
            #expect(SocketClose.sent(code) == code)
        }
        for code: WebSocketCloseCode in [.noStatus, .init(rawValue: 1006), .init(rawValue: 0), .init(rawValue: 5000)] {
            #expect(SocketClose.sent(code) == .normal)
        }
        #expect(SocketClose.bytes("") == nil)
        #expect(SocketClose.bytes("bye") == Data("bye".utf8))
        let long = String(repeating: "é", count: 100)
        #expect(SocketClose.bytes(long) == Data(String(repeating: "é", count: 61).utf8), "123 bytes at most")
    }

    @Test func errorsOfTheConnection() {
        func reason(_ code: POSIXErrorCode, _ domain: String) -> NetworkError.Reason {
            SystemFailure.error(NSError(domain: domain, code: Int(code.rawValue)), isSecure: false, hasHead: true)
                .reason
        }
        for domain in [NSPOSIXErrorDomain, "kNWErrorDomainPOSIX"] {
            #expect(reason(.EMSGSIZE, domain) == .limitExceeded(.responseBody))
            #expect(reason(.ECONNREFUSED, domain) == .unreachable)
            for code: POSIXErrorCode in [.ENOTCONN, .ECONNABORTED, .ECONNRESET, .ETIMEDOUT] {
                #expect(reason(code, domain) == .connectionLost(.requestMayHaveArrived))
            }
        }
    }
}
