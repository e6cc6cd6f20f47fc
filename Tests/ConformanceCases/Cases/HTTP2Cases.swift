// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for HTTP/2 with a conforming server.
enum HTTP2Cases {
    static let all = basics + bodies

    private static func http2(
        _ name: String, rule: String,
        body: @escaping @Sendable (ConformanceTrial, any Transport, String) async throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(name, .http2, needs: [.secure, .authority], rule: rule) { trial in
            try await body(trial, trial.trusting(), trial.address(.secure))
        }
    }

    private static let basics = [
        http2("TLS negotiates HTTP/2", rule: "RFC 9113 §3.2") { trial, transport, origin in
            let response = try await trial.exchange(.get, origin + "/empty", over: transport)
            try trial.equal(response.version, .http2, "the version")
        },
        ConformanceCase(
            "HTTP/1.1 alone is spoken where that is asked for", .http2, needs: [.secure, .authority],
            rule: "TransportConfiguration.HTTPVersionPolicy.http1Only"
        ) { trial in
            let transport = try trial.trusting { $0.httpVersions = .http1Only }
            let response = try await trial.exchange(.get, trial.address(.secure) + "/empty", over: transport)
            try trial.equal(response.version, .http1_1, "the version")
        },
        http2("a burst of calls shares one connection", rule: "RFC 9113 §9.1") { trial, transport, origin in
            let connections = try await withThrowingTaskGroup(of: Substring.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let response = try await trial.exchange(.get, origin + "/connection", over: transport)
                        return try await response.text().prefix { $0 != " " }
                    }
                }
                return try await group.reduce(into: Set<Substring>()) { $0.insert($1) }
            }
            try trial.equal(connections.count, 1, "the number of connections")
        },
        http2("fields are what they would be over HTTP/1.1", rule: "RFC 9113 §8.2.2") { trial, transport, origin in
            let headers: HTTPHeaders = ["X-Value": "ünï: code"]
            let response = try await trial.exchange(.get, origin + "/connection", headers: headers, over: transport)
            let text = try await response.text()
            try trial.expect(text.hasSuffix("HTTP/2.0 ünï: code"), "the server saw \(text)")
        },
        http2("a POST without a body ends its stream at once", rule: "RFC 9113 §8.1") { trial, transport, origin in
            let response = try await trial.exchange(.post, origin + "/connection", over: transport)
            try trial.equal(response.status, .ok, "the status")
        },
        http2("HEAD gets a head and no body", rule: "RFC 9113 §8.1.1") { trial, transport, origin in
            let response = try await trial.exchange(.head, origin + "/body.bin", over: transport)
            try trial.equal(response.headers[.contentLength], "3000000", "Content-Length")
            try trial.equal(try await response.chunksJoined(), Data(), "the body")
        },
        http2("a cancelled stream leaves its connection to the others", rule: "RFC 9113 §5.4.2") {
            trial, transport, origin in
            let number = { @Sendable in
                try await trial.exchange(.get, origin + "/connection", over: transport).text()
            }
            let first = try await number()
            for _ in 0..<5 {
                let response = try await trial.exchange(.get, origin + "/body.bin", over: transport)
                response.body.cancel()
            }
            try trial.equal(try await number(), first, "the connection")
        },
        ConformanceCase(
            "a stream whose reader pauses does not delay the others", .http2, needs: [.secure, .authority],
            rule: "RFC 9113 §5.2"
        ) { trial in
            let transport = try trial.trusting { $0.bodyBuffer = 16_384 }
            let origin = try trial.address(.secure)
            let paused = try await trial.exchange(.get, origin + "/body.bin", over: transport)
            for _ in 0..<3 {
                let response = try await trial.exchange(.get, origin + "/body.bin", over: transport)
                try trial.equal(try await response.data().count, 3_000_000, "the number of bytes beside it")
            }
            try trial.equal(try await paused.data(), MockResponse.pattern(0..<3_000_000), "the paused body")
        },
    ]

    private static let bodies = BodyRecipe.allCases.map { recipe in
        http2("bodies from \(recipe.rawValue) go up over HTTP/2, and come back", rule: "RFC 9113 §8.1") {
            trial, transport, origin in
            for size in [0, 1, 1_000_000] {
                let bytes = MockResponse.pattern(0..<size)
                let url = origin + "/upload/conformance-\(UUID().uuidString)"
                let put = try await trial.exchange(.put, url, body: recipe.body(bytes, trial), over: transport)
                try trial.expect(put.status.isSuccess, "the upload of \(size) bytes was answered with \(put.status)")
                let response = try await trial.exchange(.get, url, over: transport)
                try trial.equal(try await response.data(), bytes, "what came back")
            }
        }
    }
}
