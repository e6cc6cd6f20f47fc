// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct DecodingTests {
    struct Anything<Value: Decodable & Sendable>: Endpoint {
        typealias Response = Value
        var path: RequestPath { "/any" }
    }

    struct Ping: Endpoint {
        typealias Response = Void
        var path: RequestPath { "/ping" }
    }

    struct Raw: Endpoint {
        typealias Response = HTTPResponse
        var path: RequestPath { "/raw" }
    }

    struct Total: Endpoint {
        typealias Response = Int
        var path: RequestPath { "/total" }
        func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Int {
            let people: [Person] = try await response.decoded(using: codecs)
            return people.count
        }
    }

    @Test func endpointsChooseTheirDefaultOrDecodeThemselves() async throws {
        try await APIClient.answering(.ok, "anything").send(Ping())
        #expect(try await APIClient.answering(.notFound, "{}").send(Raw()).status == .notFound)
        #expect(try await APIClient.answering(.ok, "[\(Person.annJSON)]").send(Total()) == 1)
        #expect(try APIClient.answering().request(for: Raw()).headers[.accept] == "*/*")
        #expect(try APIClient.answering().request(for: GetPerson(id: 1)).headers[.accept] == "application/json")
    }

    @Test func theResponseHasTheTypeThatTheCallNames() async throws {
        let client = APIClient.answering()
        #expect(try await client.send(GetPerson(id: 1)) == .ann)
        #expect(try await client.send(.person(id: 1)) == .ann)
        let inferred: Person = try await client.send(PeopleAPI.one(1).decoding())
        #expect(inferred == .ann)
        #expect(try await client.send(PeopleAPI.one(1).decoding(JSONValue.self))["name"].string == "Ann")
        let response = try await client.response(for: PeopleAPI.one(1).decoding(Person.self))
        #expect(response.value == .ann && response.status == .ok)
        let named: Response<Person> = try await client.response(for: PeopleAPI.one(1).decoding())
        let known: Response<Person> = try await client.response(for: GetPerson(id: 1))
        #expect(named.value == known.value)
        #expect(try await client.send(Request<Data>.get("/x")) == Data(Person.annJSON.utf8))
        #expect(try await client.send(Request<String>.get("/x")) == Person.annJSON)
        #expect(try await client.send(Request<Person?>.get("/x")) == .ann)
        #expect(try await client.send(Request<Data?>.get("/x")) == Data(Person.annJSON.utf8))
    }

    @Test func aGenericEndpointTakesDataAndTextAsTheyAre() async throws {
        let client = APIClient.answering()
        #expect(try await client.send(Anything<Data>()) == Data(Person.annJSON.utf8))
        #expect(try await client.send(Anything<String>()) == Person.annJSON)
        #expect(try await client.send(Anything<Person>()) == .ann)
        #expect(try await client.send(PeopleAPI.list.decoding(Data.self)) == Data(Person.annJSON.utf8))
    }

    @Test(arguments: [(204, ""), (205, ""), (200, "")])
    func anEmptyResponseIsNilWhereThatIsAllowed(status: Int, body: String) async throws {
        let client = APIClient.answering(HTTPStatus(status), body)
        #expect(try await client.send(Request<Person?>.get("/x")) == nil)
        #expect(try await client.send(Request<Data?>.get("/x")) == nil)
        #expect(try await client.send(Request<Data>.get("/x")) == Data())
        try await client.send(Request<Void>.get("/x"))
        let error = try #require(await client.failure(.person(id: 1)))
        #expect(error.reason == .badResponse)
        #expect(error.detail.contains("Person"))
        #expect(error.statusCode == status)
    }

    @Test(arguments: [404, 410])
    func notFoundIsNilWhereTheCallSaysSo(status: Int) async throws {
        let client = APIClient.answering(HTTPStatus(status), #"{"message":"gone"}"#)
        let lenient = Request<Person?>.get("/x").options { $0.decodesNotFoundAsNil = true }
        #expect(try await client.send(lenient) == nil)
        #expect(try await client.response(for: lenient).status.code == status)
        let strict = await client.failure(Request<Person?>.get("/x"))
        #expect(strict?.isNotFound == true)
        let notOptional = Request<Person>.get("/x").options { $0.decodesNotFoundAsNil = true }
        #expect(await client.failure(notOptional) != nil)
    }

    @Test func successIs200To299AndWhatTheCallAccepts() async throws {
        for status in [200, 201, 299] {
            #expect(try await APIClient.answering(HTTPStatus(status)).send(.person(id: 1)) == .ann)
        }
        for status in [199, 300, 304, 400, 500, 600] {
            let client = APIClient.answering(HTTPStatus(status))
            let error = await client.failure(.person(id: 1))
            #expect(error?.reason == .status(HTTPStatus(status)))
            let widened = Request<Person>.person(id: 1).options { $0.acceptedStatuses = [HTTPStatus(status)] }
            #expect(try await client.send(widened) == .ann)
            let raw = try await client.send(Request<HTTPResponse>(.get, "/x"))
            #expect(raw.status.code == status)
            #expect(try await raw.text() == Person.annJSON)
        }
    }

    @Test func aStatusErrorCarriesABoundedExcerptAndItsRequest() async throws {
        let text = #"{"message":"no such film","token":"s3cret"}"# + String(repeating: " ", count: 100)
        let transport = RecordingTransport(404, text)
        let client = APIClient.testing(transport, limits: Limits(errorExcerpt: 64))
        let error = try #require(await client.failure(.person(id: 1)))
        #expect(error.response?.body.count == 64)
        #expect(error.response?.isTruncated == true)
        #expect(error.request?.description == "GET https://api.example/v1/people/1")
        #expect(error.routeName == "person(id:)")
        #expect(error.description.contains("no such film"))
        #expect(!error.description.contains("s3cret"))
    }

    @Test func wrappersAreTakenOff() async throws {
        let items = #"{"items":[{"id":1,"name":"Ann"}],"has_more":false}"#
        let client = APIClient.answering(.ok, items)
        #expect(try await client.send(Request<[Person]>.get("/q").unwrapping("items")) == [.ann])
        let deep = APIClient.answering(.ok, #"{"data":{"the_person":{"id":1,"name":"Ann"}}}"#)
        let call = Request<Person>.get("/q").unwrapping("data", "the_person")
        #expect(try await deep.send(call) == .ann)
        #expect(try await deep.send(call, codecs: .snakeCase) == .ann)
        let error = try #require(await client.failure(Request<[Person]>.get("/q").unwrapping("rows")))
        #expect(error.reason == .decoding)
        #expect(error.detail.contains("\"rows\""))
    }

    @Test func codecsCanBeChosenForOneCall() async throws {
        struct Stamped: Decodable, Sendable, Equatable { let createdAt: Date }
        let client = APIClient.answering(.ok, #"{"created_at":"1970-01-01T00:00:01Z"}"#)
        let expected = Stamped(createdAt: Date(timeIntervalSince1970: 1))
        #expect(try await client.send(PeopleAPI.list.decoding(Stamped.self), codecs: .snakeCase) == expected)
        #expect(try await client.send(Request<Stamped>.get("/x"), codecs: .snakeCase) == expected)
        #expect(try await client.send(Request<Stamped>.get("/x").options { $0.codecs = .snakeCase }) == expected)
    }

    @Test func aResponseHasTheMessageAroundTheValue() async throws {
        let attempts = [1, 2].map {
            NetworkError.Attempt(number: $0, duration: .seconds($0), outcome: .status(.created))
        }
        let client = APIClient.testing(
            ClosureTransport { _, _ in
                var response = HTTPResponse.answer(.created, Person.annJSON)
                response.headers["ETag"] = "\"1\""
                response.attempts = attempts
                response.url = "https://api.example/v1/people/1"
                return response
            })
        let response = try await client.response(for: .person(id: 1))
        #expect(response.value == .ann)
        #expect(response.status == .created)
        #expect(response.headers[.eTag] == "\"1\"")
        #expect(response.attempts == attempts)
        #expect(response.url == "https://api.example/v1/people/1")
        #expect(try await client.response(for: GetPerson(id: 1)).value == .ann)
    }
}
