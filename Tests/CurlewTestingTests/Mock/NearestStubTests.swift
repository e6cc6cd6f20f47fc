// SPDX-License-Identifier: MIT

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

    @Test("The error names the nearest stub and the first difference")
    func nearest() async throws {
        let (report, text) = try await Self.report(.get("/users/1/order", query: ["token": "s3cret"])) {
            $0.on(.get, "/health", .status(200))
            $0.on(.get, "/users/:id/orders", .status(200))
            $0.on(.get, "/a/b/c/d/e", .status(200))
            $0.on(.get, "/users/:id", .status(200))
        }
        #expect(report.nearest == "GET /users/:id/orders" && report.count == 4)
        #expect(report.difference == #"path segment 3 is "order", not "orders""#)
        #expect(
            text.contains(#"The nearest of 4 stubs is GET /users/:id/orders: path segment 3 is "order""#), "\(text)")
        #expect(!text.contains("s3cret"))
        let (other, _) = try await Self.report(.get("/users/1/order")) {
            $0.on(.get, "/health", .status(200))
            $0.on(.post, "/users/:id/order", .status(200))
        }
        #expect(other.nearest == "POST /users/:id/order" && other.difference == "the method is GET, not POST")
    }

    @Test(
        "The difference names segments, slashes, prefixes, queries and hosts",
        arguments: [
            ("/users", "/Users", #"path segment 1 is "users", not "Users""#),
            ("/users/", "/users", #"path segment 2, "", is one too many"#),
            ("/users", "/users/", #"path segment 2, "", is missing"#),
            ("/v1/users/1", "/users/:id", #"path segment 1 is "v1", not "users""#),
            ("/users", "/users?page=1", #"path segment 1 is "users", not "users?page=1""#),
            ("/users", "https://mock.test/users", #"path segment 1 is "users", not "https:""#),
            ("/users/1", "/users/:id/films", #"path segment 3, "films", is missing"#),
            ("/files", "/files/*rest", #"path segment 2, "*rest", is missing"#),
            ("/file/a/b", "/files/*rest", #"path segment 1 is "file", not "files""#),
            ("/users//x", "/users/:id/x", #"path segment 2 is "", not ":id""#),
        ])
    func differences(sent: String, stub: String, line: String) {
        #expect(RoutePattern(.get, stub).differences(from: .get, sent).first == line)
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
            let found = pattern.differences(from: .get, target)
            let isMatch = pattern.parameters(in: target) != nil
            #expect(found.isEmpty == isMatch, "seed \(seed): \(target) and \(pattern): \(found)")
        }
    }

    @Test("A typed stub is compared by the type of the call")
    func typed() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Logout()) }
        let report = try #require(error?.underlying as? RequestMismatch)
        #expect(report.nearest == "for calls of the type GetUser")
        #expect(report.difference == "the type of the call is Logout, not GetUser")
        let (untyped, _) = try await Self.report(.get("/x")) { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
        #expect(untyped.difference == "the call has no endpoint type")
        let (none, _) = try await Self.report(.get("/x")) { _ in }
        #expect(none.nearest == nil && none.difference == nil && "\(none)".hasSuffix("\nThere are no stubs."))
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
                no route for GET /users/1/order.
                The only route is GET /users/:id/orders: path segment 3 is "order", not "orders"

                """)
        let json = client.get("/users/1/order", fields: "Accept: application/json\r\n")
        #expect(json.head.contains("application/problem+json") && json.body.contains("The only route"))
        #expect(server.unmatchedRequests.count == 2)
    }
}
