// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for request lines and request fields.
enum RequestHeadCases {
    static let all = fields + values + targets + refusals

    private static let fields = [
        ConformanceCase(
            "fields keep their order, spelling and repetitions", .requestHeads, .message, rule: "RFC 9110 §5.3"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            var headers: HTTPHeaders = ["X-Second": "2", "x-first": "1", "X-SECOND": "two"]
            headers.append("X-Second", "2")
            _ = try await trial.exchange(.get, server.url + "/", headers: headers)
            let own = try trial.only(server).headers.filter { $0.name.text.lowercased().hasPrefix("x-") }
            try trial.equal(own.map(\.name.text), ["X-Second", "x-first", "X-SECOND", "X-Second"], "the names")
            try trial.equal(own.map(\.value), ["2", "1", "two", "2"], "the values")
        },
        ConformanceCase(
            "nothing is added but Host and Accept-Encoding", .requestHeads, rule: "Transport: sends exactly the message"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            _ = try await trial.exchange(.get, server.url + "/")
            let names = Set(try trial.only(server).headers.map { $0.name.text.lowercased() })
            try trial.equal(names.sorted(), ["accept-encoding", "host"], "the fields")
        },
        ConformanceCase(
            "Host names the origin with its port", .requestHeads, rule: "RFC 9112 §3.2"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            _ = try await trial.exchange(.get, server.url + "/")
            try trial.equal(try trial.only(server).headers[values: .host], ["127.0.0.1:\(server.port)"], "Host")
        },
        ConformanceCase(
            "a field that the transport would write is the caller's if the caller writes it", .requestHeads,
            rule: "Transport: sends exactly the message"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            let own: HTTPHeaders = [
                .userAgent: "tests/1", .acceptEncoding: "identity", .accept: "text/plain",
            ]
            _ = try await trial.exchange(.get, server.url + "/", headers: own)
            let request = try trial.only(server)
            for field in own { try trial.equal(request.headers[values: field.name], [field.value], "\(field.name)") }
        },
        ConformanceCase(
            "with a raw body asked for, no coding is offered", .requestHeads, rule: "RFC 9110 §12.5.3"
        ) { trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .status(.noContent))
            _ = try await trial.exchange(.get, server.url + "/") { $0.skipsContentDecoding = true }
            let offered = try trial.only(server).headers[.acceptEncoding]
            try trial.expect(offered == nil || offered == "identity", "\(offered ?? "") is offered")
            _ = try await trial.exchange(.get, server.url + "/")
            let later = server.requests.last?.headers[.acceptEncoding]
            try trial.expect(later?.contains("gzip") == true, "\(later ?? "nothing") is offered afterwards")
        },
    ]

    private static let values = [
        ("that is empty", ""), ("of separators", ";:, \"a\""), ("that ends with a semicolon", "a;"),
        ("with a tab inside", "a\tb"),
        ("of UTF-8", "ümläut 日本語"), ("that looks like a line break", "%0D%0A"),
        ("of ten thousand bytes", String(repeating: "long ", count: 2000) + "end"),
    ].map { what, value in
        ConformanceCase(
            "a value \(what) arrives as written", .requestHeads, .message, rule: "RFC 9110 §5.5"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            _ = try await trial.exchange(.get, server.url + "/", headers: ["X-Value": value, "X-After": "1"])
            let request = try trial.only(server)
            try trial.equal(request.headers[values: "X-Value"], [value], "X-Value")
            try trial.equal(request.headers["X-After"], "1", "X-After")
        }
    }

    private static let targets = [
        "/", "/a//b", "/a/../b", "/a/%2E/b", "/a%20b?c=%26&d", "/?", "/a?b?c", "/a;b=c", "/%C3%A9",
    ].map { target in
        ConformanceCase(
            "the target \(target) is sent as it is", .requestHeads, .message, rule: "RFC 9112 §3.2.1"
        ) { trial in
            let server = try trial.server(answering: .status(.noContent))
            _ = try await trial.exchange(.get, server.url + target)
            try trial.equal(try trial.only(server).target, target, "the target")
        }
    }

    private static let refusals = [
        ConformanceCase(
            "a field that would break the message never leaves", .requestHeads, rule: "RFC 9110 §5.5"
        ) { trial in
            let server = try trial.server()
            for headers: HTTPHeaders in [["X": "a\r\nEvil: 1"], ["X": "a\n"], ["X": "a\0"], ["X Y": "a"], ["X:": "a"]] {
                try await trial.expectFailure(.invalidRequest) {
                    _ = try await trial.exchange(.get, server.url + "/", headers: headers)
                }
            }
            try trial.equal(server.connectionCount, 0, "the number of connections")
        },
        ConformanceCase(
            "a field that belongs to the connection, and a Host, never leave", .requestHeads, rule: "RFC 9110 §7.6.1"
        ) { trial in
            let server = try trial.server()
            for name: HTTPField.Name in [
                .connection, "keep-alive", "Proxy-Connection", "Proxy-Authorization", "te", "Trailer", "Upgrade",
                "http2-settings", .transferEncoding, .host, "HOST",
            ] {
                try await trial.expectFailure(.invalidRequest) {
                    _ = try await trial.exchange(.get, server.url + "/", headers: [name: "x"])
                }
            }
            try trial.equal(server.connectionCount, 0, "the number of connections")
        },
        ConformanceCase(
            "a method that is no token never leaves", .requestHeads, rule: "RFC 9110 §9.1"
        ) { trial in
            let server = try trial.server()
            for method: HTTPMethod in ["GET / HTTP/1.1\r\nX: y", "", "A B", "É"] {
                try await trial.expectFailure(.invalidRequest) {
                    _ = try await trial.exchange(method, server.url + "/")
                }
            }
            try trial.equal(server.connectionCount, 0, "the number of connections")
        },
    ]
}
