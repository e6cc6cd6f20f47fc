// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewTransfers
import TestServers
import Testing

/// What the origin of a URL receives that a server chose, in each capability.
@Suite(.timeLimit(.minutes(1)))
struct OriginTests {
    enum Capability: CaseIterable, Sendable {
        case redirect, image, download, link, linkInBody, upload, redirectedUpload

        func run(_ client: APIClient) async throws {
            switch self {
            case .redirect: try await client.send(Request<Void>.get("/start").header("X-Own", "own"))
            case .image: _ = try? await client.send(.image("/start", headers: ["X-Own": "own"]))
            case .download:
                let folder = try TemporaryFolder()
                try await client.download(Request<Data>.get("/start").header("X-Own", "own"), to: folder.path + "/x")
            case .link, .linkInBody:
                let first = Request<[String]>.get("/start").header("X-Own", "own")
                let pages = client.pages(first, next: self == .link ? .link : .link(\.first))
                for try await _ in pages {}
            case .upload, .redirectedUpload:
                let request = Request<Void>.post("/start").options { $0.authentication = .required }
                try await client.upload(.data(Data("x".utf8)), to: request, options: Upload.Options(.tus))
            }
        }

        /// The response to the first request, which leads to `target`.
        func response(to target: String) -> HTTPResponse {
            switch self {
            case .redirect, .image, .download: HTTPResponse(status: 307, headers: [.location: target])
            case .upload: HTTPResponse(status: .created, headers: [.location: target])
            case .redirectedUpload: HTTPResponse(status: .created, headers: [.location: "/own"])
            case .link:
                HTTPResponse(headers: [.link: "<\(target)>; rel=next"], body: ResponseBody(Data("[]".utf8)))
            case .linkInBody: .answer("[\"\(target)\"]")
            }
        }
    }

    @Test(
        "Another origin receives no credentials, neither those of the endpoint nor its own",
        arguments: Capability.allCases, ["https://a.test/next", "https://b.test/next", "https://c.test/next"])
    func matrix(capability: Capability, target: String) async throws {
        let transport = RecordingTransport { request, _ in
            var response: HTTPResponse
            switch request.target {
            case "/start": response = capability.response(to: target)
            case "/own": response = HTTPResponse(status: 308, headers: [.location: target])
            default:
                response = HTTPResponse(headers: ["Upload-Offset": "1"], body: ResponseBody(Data("[]".utf8)))
            }
            response.url = request.urlString
            return response
        }
        let pipeline: Pipeline = [.redirects(), .bearer { "home" }, .bearer(for: "https://c.test") { "session" }]
        let client = APIClient.testing(
            transport, baseURL: "https://a.test", pipeline: pipeline, headers: ["X-Client": "key"])
        try await capability.run(client)
        let first = try #require(transport.requests.first), last = try #require(transport.requests.last)
        #expect(last.urlString == target && transport.requests.count > 1)
        #expect(first.headers[.authorization] == "Bearer home" && first.headers["X-Client"] == "key")
        let isHome = last.origin == first.origin
        #expect(last.headers[.authorization] == (isHome ? "Bearer home" : nil))
        #expect(last.headers["X-Client"] == (isHome ? "key" : nil))
        let isUpload = [.upload, .redirectedUpload].contains(capability)
        #expect(last.headers["X-Own"] == (isHome && !isUpload ? "own" : nil))
        // A redirect to another origin drops the fields of the protocol too.
        #expect(last.headers["Upload-Offset"] == (capability == .upload || isHome && isUpload ? "0" : nil))
    }
}
