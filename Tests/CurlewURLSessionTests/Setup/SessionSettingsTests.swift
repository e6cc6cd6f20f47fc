// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an app's own session may be, and how a platform is reported.
@Suite(.timeLimit(.minutes(1)))
struct SessionSettingsTests {
    @Test("A background session is refused with an error, where URLSession would end the process")
    func background() async throws {
        #expect(SessionSettings.problem(identifier: nil) == nil)
        let problem = try #require(SessionSettings.problem(identifier: "example.films"))
        #expect(problem.contains("example.films") && problem.contains("background"))
        #if canImport(Darwin)
        // There is none on Linux.
        let settings = URLSessionConfiguration.background(withIdentifier: "example.films")
        for transport in [
            URLSessionTransport(session: settings), URLSessionTransport(session: URLSession(configuration: settings)),
        ] {
            let error = await transport.failure(.get, "http://127.0.0.1:1/")
            #expect(error?.reason == .configuration)
            #expect(error?.detail == problem)
        }
        #endif
    }

    @Test("Texts for Apple platforms name neither Linux nor CurlTransport, which is not there")
    func texts() {
        let hint = Unsupported.hint(on: .apple)
        #expect(!hint.contains("CurlTransport") && hint.hasSuffix("."))
        #expect(Unsupported.hint(on: .linux).contains("CurlTransport"))
        #expect(Platform.apple.engine == "URLSession" && Platform.linux.engine == "URLSession on Linux")
        let problems = Unsupported.problems(TransportConfiguration(unixSocket: "socket"), on: .apple)
        #expect(problems.allSatisfy { !$0.contains("Linux") } && problems.count == 1)
    }

    @Test("A coding that Apple's systems do not decode stays, and its field with it")
    func codings() throws {
        for coding in ["gzip", "deflate", "br", "x-gzip", "gzip, br", "identity"] {
            #expect(ResponseFields.isDecoded(coding, on: .apple) && ResponseFields.isDecoded(coding, on: .linux))
        }
        for coding in ["zstd", "gzip, zstd", "ZSTD"] {
            #expect(!ResponseFields.isDecoded(coding, on: .apple), "\(coding)")
            #expect(ResponseFields.isDecoded(coding, on: .linux), "\(coding)")
        }
        #expect(!ResponseFields.isDecoded("compress", on: .apple) && !ResponseFields.isDecoded(nil, on: .apple))
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let fields = ["Content-Encoding": "zstd", "Content-Length": "9", "Content-Type": "text/plain"]
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        let head = try TaskMachine.Head(response, for: .get, .standard, on: .apple)
        #expect(head.headers[.contentEncoding] == "zstd" && head.length == nil)
    }

    @Test("Versions have the names of RFC 7301")
    func versions() {
        #expect(HTTPVersion(protocolName: "h3") == .http3)
        #expect(HTTPVersion(protocolName: "h2") == .http2)
        #expect(HTTPVersion(protocolName: "http/1.1") == .http1_1)
        #expect(HTTPVersion(protocolName: "HTTP/1.0") == .http1_0)
        #expect(HTTPVersion(protocolName: "spdy/3") == nil)
    }

    @Test("A body without a type is not called a form, as Apple's URLSession would")
    func contentType() throws {
        func type(_ body: RequestBody, _ headers: HTTPHeaders = [:], _ platform: Platform = .apple) throws -> String? {
            let request = try HTTPRequest(.post, url: "http://127.0.0.1/", headers: headers, body: body)
            return try RequestGuard.message(request, skipsContentDecoding: false, closes: false, on: platform)
                .value(forHTTPHeaderField: "Content-Type")
        }
        let body = RequestBody.bytes(Data("a=1".utf8))
        #expect(try type(body) == "application/octet-stream")
        #expect(try type(body, ["Content-Type": "text/plain"]) == "text/plain")
        #expect(try type(.empty) == nil)
        #expect(try type(body, [:], .linux) == nil, "BodyTests sees that nothing is added there")
    }
}
