// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(2)))
struct CassetteMatchingTests {
    static func post(_ text: String, _ type: MediaType, _ path: RequestPath = "/x") -> Request<String> {
        .post(path, body: .data(Data(text.utf8), type: type))
    }

    /// Whether a request that is sent matches the recorded one.
    static func matches(
        _ recorded: Request<String>, _ sent: Request<String>, _ change: (inout Cassette.Options) -> Void = { _ in }
    ) async throws -> Bool {
        var options = Cassette.Options()
        change(&options)
        let folder = try CassetteFolder()
        let path = try await record(folder, .answering { _ in .text("yes") }, options: options) {
            _ = try await $0.send(recorded)
        }
        let cassette = try Cassette(path, mode: .replay, options: options)
        return (try? await client(cassette).send(sent)) == "yes"
    }

    @Test("The items of a query match in any order, and may be ignored")
    func query() async throws {
        let recorded = Request<String>.get("/x").query(["a": "1"]).query(["b": "2"]).query(["b": "3"])
        let swapped = Request<String>.get("/x").query(["b": "2"]).query(["a": "1"]).query(["b": "3"])
        let other = Request<String>.get("/x").query(["a": "1"]).query(["b": "3"]).query(["b": "2"])
        #expect(try await Self.matches(recorded, swapped))
        #expect(try await !Self.matches(recorded, other))
        #expect(try await Self.matches(recorded, other) { $0.matching.ignoredQueryItems = ["b"] })
    }

    @Test("Bodies match as JSON, as a form, or by their bytes")
    func bodies() async throws {
        let json = Self.post(#"{"a": 1, "b": [true]}"#, .json)
        #expect(try await Self.matches(json, Self.post(#"{"b":[true],"a":1}"#, .json)))
        #expect(try await !Self.matches(json, Self.post(#"{"b":[false],"a":1}"#, .json)))
        let form = Self.post("a=1&b=2", .form)
        #expect(try await Self.matches(form, Self.post("b=2&a=%31", .form)))
        #expect(try await !Self.matches(form, Self.post("b=2&a=2", .form)))
        #expect(try await !Self.matches(Self.post("one", .text), Self.post("two", .text)))
    }

    @Test("Chosen fields must match, others need not")
    func fields() async throws {
        let german = Request<String>.get("/x").header("accept-language", "de")
        let english = Request<String>.get("/x").header("accept-language", "en")
        #expect(try await Self.matches(german, english))
        #expect(try await !Self.matches(german, english) { $0.matching.fields = ["accept-language"] })
    }

    @Test("A replay needs no credential, and a declared member may change")
    func secrets() async throws {
        let recorded = Request<String>.get("/x").query(["api_key": "k1"]).header(.authorization, "Bearer one")
        #expect(try await Self.matches(recorded, .get("/x").query(["api_key": "other"])))
        let nonce = Redaction.Rules(secretMembers: ["nonce"])
        #expect(
            try await Self.matches(Self.post(#"{"nonce":1}"#, .json), Self.post(#"{"nonce":2}"#, .json)) {
                $0.redaction = .standard.adding(nonce)
            })
    }

    @Test("A mismatch names the nearest entry and the first difference, without secrets")
    func report() async throws {
        let folder = try CassetteFolder()
        let path = try await record(folder, .answering { _ in .text("yes") }) { client in
            _ = try await client.send(
                .get("/users/1/orders").query(["page": "1"]).query(["token": "abc"]) as Request<String>)
            _ = try await client.send(
                Self.post(#"{"user":{"name":"Ada","tags":[1,2]},"password":"p"}"#, .json, "/users"))
            _ = try await client.send(.get("/health") as Request<String>)
        }
        let cassette = try Cassette(path, mode: .replay)
        func report(_ call: Request<String>) async throws -> (RequestMismatch, String) {
            let error = await #expect(throws: NetworkError.self) { try await client(cassette).send(call) }
            let text = try #require(error.map { "\($0)" })
            #expect(text.contains("CURLEW_CASSETTES=new") && !text.contains("s3cret") && !text.contains("abc"))
            return (try #require(error?.underlying as? RequestMismatch), text)
        }
        let (first, text) = try await report(
            .get("/users/1/order").query(["page": "1"]).query(["token": "s3cret"]))
        #expect(first.nearest == "GET https://api.test/users/1/orders?page=1&token=REDACTED (entry 3)", "\(first)")
        #expect(first.difference == #"path segment 3 is "order", not "orders""#)
        #expect(text.contains("The nearest of 3 entries is GET"), "\(text)")
        let (second, _) = try await report(
            .get("/users/1/orders").query(["page": "2"]).query(["token": "s3cret"]))
        #expect(second.difference == "the entry lacks the query item page=2")
        let (third, _) = try await report(.get("/users/1/orders").query(["token": "s3cret"]))
        #expect(third.difference == "the request lacks the query item page=1")
        let (fourth, _) = try await report(
            Self.post(#"{"user":{"name":"Grace","tags":[1]},"password":"s3cret"}"#, .json, "/users"))
        #expect(fourth.nearest == "POST https://api.test/users (entry 2)", "\(fourth)")
        #expect(fourth.difference?.hasPrefix("the body (") == true, "\(fourth)")
        #expect(cassette.problems.count == 4 && cassette.unused.count == 3)
    }

    @Test("A request to another host does not match")
    func origin() async throws {
        let recorded = Request<String>.get(url: "https://one.test/x")
        #expect(try await !Self.matches(recorded, Request<String>.get(url: "https://two.test/x")))
        #expect(try await Self.matches(recorded, Request<String>.get(url: "https://one.test:443/x")))
    }
}
