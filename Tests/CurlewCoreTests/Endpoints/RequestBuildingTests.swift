// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestBuildingTests {
    struct Unencodable: Encodable {
        let value = Double.infinity
    }

    /// A format of three letters, for the choice of codecs.
    struct ShoutingCodec: ContentCodec {
        var mediaType: MediaType { MediaType(type: "text", subtype: "shout") }
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            try JSONDecoder().decode(type, from: Data(String(decoding: data, as: UTF8.self).lowercased().utf8))
        }
        func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("WHAT".utf8) }
    }

    @Test func acceptFollowsTheResponseType() throws {
        let client = APIClient.testing(RecordingTransport())
        #expect(try client.request(for: .person(id: 1)).headers[.accept] == "application/json")
        #expect(try client.request(for: Request<Person?>.get("/x")).headers[.accept] == "application/json")
        #expect(try client.request(for: Request<Data>.get("/x")).headers[.accept] == "*/*")
        #expect(try client.request(for: Request<Void>.delete("/x")).headers[.accept] == "*/*")
        #expect(try client.request(for: Request<HTTPResponse>(.get, "/x")).headers[.accept] == "*/*")
        #expect(try client.request(for: .person(id: 1).header(.accept, "x/y")).headers[values: .accept] == ["x/y"])
        let both = Codecs.json.adding(ShoutingCodec())
        #expect(
            try client.request(for: .person(id: 1).options { $0.codecs = both }).headers[.accept]
                == "application/json, text/shout;q=0.9")
    }

    @Test func fieldsOfTheCallReplaceThoseOfTheClient() throws {
        let configuration = APIClient.Configuration(
            headers: ["X-Tenant": "a", "X-Other": "b", .accept: "application/vnd.x+json"], userAgent: "App/2")
        let client = APIClient.testing(RecordingTransport(), configuration: configuration)
        let headers = try client.request(for: .person(id: 1).header("x-tenant", "c")).headers
        #expect(headers[values: "X-Tenant"] == ["c"])
        #expect(headers["X-Other"] == "b")
        #expect(headers[.accept] == "application/vnd.x+json")
        #expect(headers[.userAgent] == "App/2")
        let plain = try APIClient.testing(RecordingTransport()).request(for: .person(id: 1)).headers
        #expect(plain[.userAgent] == "Curlew/0.1")
    }

    @Test func contentTypeComesOnlyWithABodyAndCanBeNamed() throws {
        let client = APIClient.testing(RecordingTransport())
        #expect(try client.request(for: .person(id: 1)).headers[.contentType] == nil)
        let patch = Request<Void>.patch("/x", json: Person.ann).header(.contentType, "application/merge-patch+json")
        #expect(try client.request(for: patch).headers[values: .contentType] == ["application/merge-patch+json"])
        let file = Request<Void>.post("/x", body: .file("/tmp/picture.PNG"))
        #expect(try client.request(for: file).headers[.contentType] == "image/png")
    }

    @Test func anotherOriginGetsNothingThatMayBeASecret() throws {
        let client = APIClient.testing(
            RecordingTransport(), headers: ["X-API-Key": "s3cret", "X-B": "b"]
        ).with(query: ["key": "s3cret"])
        for call in [
            Request<Data>.get(url: "https://cdn.example/a.png"), .get(url: "https://api.example:444/v1/a"),
            .get(url: "http://api.example/v1/a"), Request<Data>.get("/a").baseURL("https://cdn.example"),
        ] {
            let request = try client.request(for: call)
            #expect(request.headers.map(\.name) == [.accept, .userAgent])
            #expect(!request.target.contains("key"))
        }
        let home = try client.request(for: Request<Data>.get(url: "https://api.example/next?page=2"))
        #expect(home.headers["X-API-Key"] == "s3cret")
        #expect(home.target == "/next?page=2")
        #expect(try client.request(for: Request<Data>.get("/a", query: ["b": 1])).target == "/v1/a?key=s3cret&b=1")
    }

    @Test func theCredentialOriginIsTheClients() async throws {
        let origins = Locked<[Origin?]>([])
        let client = APIClient.testing(
            ClosureTransport { _, context in
                origins.withLock { $0.append(context.clientOrigin) }
                return HTTPResponse()
            })
        try await client.send(Request<Void>.get(url: "https://cdn.example/x"))
        #expect(origins.withLock { $0 } == [Origin(scheme: "https", host: "api.example")])
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\u{0}b"])
    func fieldsThatWouldForgeAMessageAreRefused(value: String) async {
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        let error = await client.failure(.person(id: 1).header("X-A", value))
        #expect(error?.reason == .invalidRequest)
        #expect(error?.request?.description == "GET https://api.example/v1/people/1")
        #expect(error?.routeName == "person(id:)")
        #expect(transport.requests.isEmpty)
        let configured = client.with(headers: ["X-A": value])
        #expect(await configured.failure(.delete("/x")) != nil)
    }

    @Test func aBodyThatCannotBeEncodedIsOneError() async throws {
        let client = APIClient.answering()
        let error = try #require(await client.failure(Request<Person>.post("/x", json: Unencodable())))
        #expect(error.reason == .encoding)
        #expect(error.detail.contains("$.value"))
        #expect(error.request?.method == .post)
        #expect(try await client.send(.person(id: 1)) == .ann)
    }

    @Test func bodiesAreWrittenByTheCodecOfTheirMediaType() async throws {
        let shout = MediaType(type: "text", subtype: "shout")
        let call = Request<Void>.post("/x", body: .encoded(Person.ann, as: shout))
        let error = await APIClient.answering().failure(call)
        #expect(error?.reason == .configuration)
        #expect(error?.detail.contains("text/shout") == true)

        let configuration = APIClient.Configuration(codecs: Codecs(primary: ShoutingCodec()))
        let client = APIClient.testing(RecordingTransport(), configuration: configuration)
        #expect(try client.request(for: call).body.data == Data("WHAT".utf8))
        let json = try client.request(for: Request<Void>.post("/x", body: .json(["a": 1])))
        #expect(json.body.data == Data(#"{"a":1}"#.utf8))
    }

    @Test func aKindOfJSONIsWrittenByTheCodecForJSON() throws {
        let configuration = APIClient.Configuration(codecs: .snakeCase)
        let client = APIClient.testing(RecordingTransport(), configuration: configuration)
        let kind = MediaType(type: "application", subtype: "vnd.x+json")
        let call = Request<Void>.post("/x", body: .encoded(["twoWords": 1], as: kind))
        let known = Request<Void>.post("/x", json: ["twoWords": 1])
        #expect(try client.request(for: call).body.data == (try client.request(for: known).body.data))
        struct Model: Encodable { let twoWords = 1 }
        let model = try client.request(for: Request<Void>.post("/x", body: .encoded(Model(), as: kind)))
        #expect(model.body.data == Data(#"{"two_words":1}"#.utf8))
    }

    @Test func aMissingFileIsRefusedBeforeAnythingIsSent() async {
        let transport = RecordingTransport()
        let client = APIClient.testing(transport)
        let error = await client.failure(.post("/x", body: .multipart([.file("a", path: "/no/such/file")])))
        #expect(error?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }
}
