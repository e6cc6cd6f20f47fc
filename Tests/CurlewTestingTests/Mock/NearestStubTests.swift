// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct NearestStubTests {
    static func report(
        _ call: Request<String>, _ configure: (MockTransport) -> Void
    ) async throws -> (RequestMismatch, String) {
        let client = APIClient.mock(configure)
        let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
        #expect(error?.reason == .refused(by: .mock))
        return (try #require(error?.underlying as? RequestMismatch), try #require(error.map { "\($0)" }))
    }

    @Test("The error names the three nearest stubs, nearest first, and what differs")
    func nearest() async throws {
        let (report, text) = try await Self.report(.get("/users/1/order", query: ["token": "s3cret"])) {
            $0.on(.get, "/health", .status(200))
            $0.on(.post, "/users/:id/order", .status(200))
            $0.on(.get, "/users/:id/orders", .status(200))
            $0.on(.get, "/a/b/c/d/e", .status(200))
            $0.on(.get, "/users/:id", .status(200))
        }
        #expect(report.nearest.map(\.name) == ["POST /users/:id/order", "GET /users/:id/orders", "GET /users/:id"])
        #expect(
            report.nearest.map(\.differences) == [
                ["the method of the request is GET, that of the stub is POST"],
                [#"path segment 3: the request has "order", the stub has "orders""#],
                [#"path segment 3, "order", is not in the stub"#],
            ])
        #expect(text.contains("The nearest of 5 stubs:\n"))
        #expect(text.contains("\n            1. POST /users/:id/order\n"))
        #expect(!text.contains("s3cret"))
    }

    @Test(
        "Segments, slashes, prefixes, queries and hosts",
        arguments: [
            ("/users", "/Users", #"path segment 1: the request has "users", the stub has "Users" (the case differs)"#),
            ("/users/", "/users", #"the path of the request ends with "/", that of the stub does not"#),
            ("/users", "/users/", #"the path of the stub ends with "/", that of the request does not"#),
            (
                "/v1/users/1", "/users/:id",
                #"the path of the request begins with "/v1", probably from the base URL: add it to the stub"#
            ),
            (
                "/users", "/users?page=1",
                #"the stub contains the query "?page=1", but a stub matches the path only: remove the query, and check it in the closure"#
            ),
            (
                "/users", "https://mock.test/users",
                #"the stub contains a host, but a stub matches the path only: use "/users""#
            ),
            ("/users/1", "/users/:id/films", #"the stub has the segment "films", which the request lacks"#),
            ("/files", "/files/*rest", #"the stub has the segment "*rest", which the request lacks"#),
            ("/file/a/b", "/files/*rest", #"path segment 1: the request has "file", the stub has "files""#),
            ("/users//x", "/users/:id/x", #"path segment 2 is empty, the stub has ":id""#),
        ])
    func differences(sent: String, stub: String, line: String) {
        let nearest = NearestStubs(method: .get, target: sent, noun: .stub)
        #expect(nearest.candidates([RoutePattern(.get, stub)])[0].differences.map(\.text) == [line])
    }

    @Test("Any pair of paths has a report, and only a match has no difference")
    func fuzz() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            func path(_ words: [String]) -> String {
                (0..<Int.random(in: 0...5, using: &random)).reduce("/") { path, _ in
                    path + (words.randomElement(using: &random) ?? "") + (Bool.random(using: &random) ? "/" : "")
                }
            }
            let pattern = RoutePattern(.get, path(["a", "bc", ":id", "", "%20"]) + (seed % 3 == 0 ? "/*rest" : ""))
            let target = path(["a", "bc", "x", "", "%zz", "?q"])
            let found = NearestStubs(method: .get, target: target, noun: .stub).candidates([pattern])[0].differences
            let isMatch = pattern.parameters(in: target) != nil
            #expect(found.isEmpty == isMatch, "seed \(seed): \(target) and \(pattern): \(found)")
        }
    }

    @Test("A typed stub is compared by the type of the call")
    func typed() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Logout()) }
        let report = try #require(error?.underlying as? RequestMismatch)
        #expect(report.nearest.map(\.differences) == [["the type of the call is Logout, that of the stub is GetUser"]])
        let (untyped, _) = try await Self.report(.get("/x")) { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
        #expect(untyped.nearest[0].differences == ["the call has no endpoint type, the stub is for GetUser"])
        let (none, _) = try await Self.report(.get("/x")) { _ in }
        #expect(
            "\(none)" == "No stub matches GET https://mock.test/x (nearest()). There are no stubs."
                || none.nearest.isEmpty)
    }

    @Test("A server shows the report as text, or as problem details to a client that accepts JSON")
    func server() throws {
        let server = try MockServer()
        server.on(.get, "/users/:id/orders", respond: .status(.ok))
        let client = try RawClient(port: server.port)
        let text = client.get("/users/1/order", fields: "Accept: */*\r\n")
        #expect(text.status == 404 && text.head.contains("text/plain"))
        #expect(
            text.body == """
                no route for GET /users/1/order. The only route:
                1. GET /users/:id/orders
                   path segment 3: the request has "order", the route has "orders"

                """)
        let json = client.get("/users/1/order", fields: "Accept: application/json\r\n")
        #expect(json.head.contains("application/problem+json") && json.body.contains("The only route"))
        #expect(server.unmatchedRequests.count == 2)
    }
}
