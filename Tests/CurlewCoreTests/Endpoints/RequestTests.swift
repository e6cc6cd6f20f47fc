// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    let transport = RecordingTransport()
    var client: APIClient { .testing(transport) }

    @Test func everyFactoryHasItsMethodAndBody() throws {
        let form: MultipartForm = [.field("a", "1")]
        let requests: [Request<Person>] = [
            .get("/x"), .post("/x"), .post("/x", body: .text("hi")), .post("/x", json: Person.ann),
            .post("/x", body: .json(["n": 1, "s": "x"])), .post("/x", body: .form(["a": 1, "b": "c d"])),
            .post("/x", body: .form(Person.ann)), .post("/x", body: .multipart(form)), .put("/x", json: Person.ann),
            .put("/x", body: .multipart(form)), .patch("/x", body: .json(["n": nil, "m": [1]])), .delete("/x"),
            .query("/x", body: .json(["q": "y"])),
        ]
        let built = try requests.map { try client.request(for: $0) }
        #expect(
            built.map(\.method.rawValue) == [
                "GET", "POST", "POST", "POST", "POST", "POST", "POST", "POST", "PUT", "PUT", "PATCH", "DELETE", "QUERY",
            ])
        let types = built.map { $0.headers[.contentType]?.split(separator: ";").first ?? "-" }
        #expect(
            types == [
                "-", "-", "text/plain", "application/json", "application/json", "application/x-www-form-urlencoded",
                "application/x-www-form-urlencoded", "multipart/form-data", "application/json", "multipart/form-data",
                "application/json", "-", "application/json",
            ])
        #expect(built[5].body.data == Data("a=1&b=c+d".utf8))
        #expect(built[6].body.data == Data("id=1&name=Ann".utf8))
        #expect(try JSONDecoder().decode(Person.self, from: built[3].body.data ?? Data()) == .ann)
    }

    @Test func aCallWithoutATypeHasNoResponseValue() async throws {
        try await client.send(.delete("/people/1"))
        try await client.send(.post("/people", json: Person.ann))
        #expect(transport.requests.map(\.method) == [.delete, .post])
    }

    @Test func theNameIsTheFunctionThatMadeTheCall() async throws {
        #expect(Request<Person>.person(id: 1).name == "person(id:)")
        #expect(Request<Person>.people.name == "people")
        #expect(Request<Person>.get("/x").name("mine").name == "mine")
        #expect(GetPerson(id: 1).name == "GetPerson")
        let names = Locked<[String]>([])
        let client = APIClient.testing(
            ClosureTransport { _, context in
                names.withLock { $0.append(context.routeName) }
                return .answer(Person.annJSON)
            })
        _ = try await client.send(.person(id: 1))
        _ = try await client.send(PeopleAPI.one(1).decoding(Person.self))
        #expect(names.withLock { $0 } == ["person(id:)", "PeopleAPI"])
    }

    @Test func modifiersChangeACopy() throws {
        let plain = Request<Person>.person(id: 1)
        let changed = plain.header("X-A", "1").query(["q": "z"]).options { $0.decodesNotFoundAsNil = true }
            .baseURL("https://other.example")
        let built = try client.request(for: changed)
        #expect(built.urlString == "https://other.example/people/1?q=z")
        #expect(built.headers["X-A"] == "1")
        #expect(changed.options.decodesNotFoundAsNil == true)
        #expect(changed.name == "person(id:)")
        #expect(
            plain.options.decodesNotFoundAsNil == nil && plain.query.isEmpty && plain.headers.isEmpty
                && plain.baseURL == nil)
    }

    @Test func mapChangesTheResponseOnly() async throws {
        let names = Request<Person>.person(id: 1).options { $0.acceptedStatuses = [404] }.map(\.name)
        #expect(try await client.send(names) == "Ann")
        #expect(names.options.acceptedStatuses == [404])
        #expect(names.name == "person(id:)")
    }

    @Test func absoluteURLsKeepTheirQueryAsItIs() async throws {
        let signed = "https://cdn.example/a%2Fb?X-Sig=a+b%2F&x=;"
        #expect(try await client.send(.get(url: signed)) == Person.ann)
        let data = try await client.send(Request<Data>.get(url: "https://cdn.example/x").query(["w": 64]))
        #expect(data == Data(Person.annJSON.utf8))
        try await client.send(Request<Void>(.put, url: signed, body: .text("x")))
        #expect(transport.requests.map(\.urlString) == [signed, "https://cdn.example/x?w=64", signed])
    }

    @Test(arguments: ["/relative", "ftp://x.example/a", "https://user:pw@x.example/", "https://x.example/a\nb", ""])
    func absoluteURLsThatCannotBeSentAreRefused(url: String) async {
        let error = await client.failure(Request<Data>.get(url: url))
        #expect(error?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test func theEndpointTravelsWithTheCallForTypedStubs() async throws {
        let ids = Locked<[Int]>([])
        let client = APIClient.testing(
            ClosureTransport { _, context in
                if let endpoint = context.endpoint as? GetPerson { ids.withLock { $0.append(endpoint.id) } }
                return .answer(Person.annJSON)
            })
        _ = try await client.send(GetPerson(id: 41))
        #expect(ids.withLock { $0 } == [41])
    }
}
