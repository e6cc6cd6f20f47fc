// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// `.httpsOnly()`.
@Suite(.timeLimit(.minutes(1)))
struct HTTPSOnlyTests {
    private func client(_ pipeline: Pipeline) -> APIClient {
        .mock(baseURL: "https://a.test", pipeline: pipeline) { mock in
            mock.on(.get, "/leave", .status(302, headers: [.location: "http://b.test/"]))
            mock.onAny { _ in .status(204) }
        }
    }

    @Test(
        "Plain http is refused, and nothing is sent",
        arguments: ["http://b.test/", "http://10.0.0.1/", "http://c.test:81/"])
    func refused(url: String) async throws {
        let client = client(.standard.adding(.httpsOnly(except: ["http://c.test"])))
        let error = await client.failure(Request<HTTPResponse>(.get, url: url))
        #expect(error?.reason == .refused(by: .httpsOnly))
        #expect(error?.isRetryable == false)
        #expect(error?.hint?.contains("httpsOnly(except:") == true)
        #expect(client.recordedCalls.isEmpty)
    }

    @Test(
        "This machine, named origins and https are allowed",
        arguments: ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]/", "http://c.test/", "https://b.test/"])
    func allowed(url: String) async throws {
        let client = client(.standard.adding(.httpsOnly(except: ["http://c.test"])))
        let response = try await client.send(Request<HTTPResponse>(.get, url: url))
        #expect(response.status == .noContent)
    }

    @Test("The request that an interceptor makes is checked")
    func changed() async throws {
        let downgrading = client(
            .standard.adding(.httpsOnly()).adding(.onRequest { request, _ in try request.setURL("http://a.test/") }))
        let error = await downgrading.failure(Request<HTTPResponse>(.get, "/"))
        #expect(error?.reason == .refused(by: .httpsOnly))

        let upgrading = client(
            .standard.adding(.httpsOnly()).adding(.onRequest { request, _ in try request.setURL("https://b.test/") }))
        try await upgrading.send(Request<HTTPResponse>(.get, url: "http://b.test/"))
        #expect(upgrading.recordedCalls.map(\.request.urlString) == ["https://b.test/"])
    }

    @Test("An exception that is no origin is a problem of the client", arguments: ["b.test", "http://b.test/path", ""])
    func problem(text: String) {
        #expect(client(.standard.adding(.httpsOnly(except: [text]))).problems.count == 1)
        #expect(client(.standard.adding(.httpsOnly(except: ["http://b.test"]))).problems.isEmpty)
    }
}
