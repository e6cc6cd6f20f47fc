// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import LegacyBridge

/// A request of the old layer with everything in it.
private struct Everything: RequestDescription {
    var path = "/things"
    var verb = "POST"
    var additionalHeaders = ["X-Tenant": "acme"]
    var parameters = ["b": "2", "a": "1 & 1"]
    var body: (any Encodable & Sendable)? = ["name": "Ada"]
    var needsToken = false
}

extension NetworkService {
    /// The result of the old call, for tests that await.
    func result<Value: Decodable & Sendable>(
        of request: any RequestDescription, as type: Value.Type = Value.self
    ) async -> Result<Value, ServiceError> {
        await withCheckedContinuation { done in
            perform(request) { (result: Result<Value, ServiceError>) in done.resume(returning: result) }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct FacadeTests {
    @Test("The old façade and the new call agree on every user, and on who is not there", arguments: 1...11)
    func agree(id: Int) async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let client = APIClient(baseURL: "\(api.url)")
        let old = await CurlewNetworkService(client: client).result(of: GetUser(id: id), as: User.self)
        let new: User
        do {
            new = try await client.send(.user(id))
        } catch {
            #expect(error.isNotFound && id == 11)
            #expect(throws: ServiceError.notFound) { try old.get() }
            return
        }
        #expect(try old.get() == new)
        #expect(new.id == id && id <= 10)
    }

    @Test("A description is sent whole")
    func everything() async throws {
        let mock = MockTransport { $0.on(.post, "/things", .json(text: "[1, 2]")) }
        let service = CurlewNetworkService(client: .mock(mock))
        #expect(try await service.result(of: Everything(), as: [Int].self).get() == [1, 2])
        let call = try #require(mock.requests.first)
        #expect(call.request.target == "/things?a=1%20%26%201&b=2")
        #expect(call.request.headers["X-Tenant"] == "acme")
        #expect(try call.json([String: String].self) == ["name": "Ada"])
        #expect(call.routeName == "Everything")
    }

    @Test("What cannot be sent is an error of the call, and nothing leaves")
    func cannotBeBuilt() async {
        let mock = MockTransport()
        let service = CurlewNetworkService(client: .mock(mock))
        for request in [Everything(path: "/things/../users"), Everything(verb: "GE T"), Everything(path: "/a?b")] {
            let result = await service.result(of: request, as: [Int].self)
            #expect(throws: ServiceError.requestCannotBeBuilt) { try result.get() }
        }
        #expect(mock.requestCount == 0)
    }

    static let errors: [(NetworkError, ServiceError)] = [
        (NetworkError(.cancelled), .cancelled),
        (NetworkError(statusCode: 401), .unauthorized),
        (NetworkError(.notAuthenticated(.signedOut)), .unauthorized),
        (NetworkError(.notAuthenticated(.refreshFailed)), .noConnection),
        (NetworkError(statusCode: 403), .forbidden),
        (NetworkError(statusCode: 404), .notFound),
        (NetworkError(statusCode: 418), .client(418)),
        (NetworkError(statusCode: 503), .server(503)),
        (NetworkError(.unreachable), .noConnection),
        (NetworkError(.timedOut(.firstByte)), .noConnection),
        (NetworkError(.decoding), .responseCannotBeParsed),
        (NetworkError(.badResponse), .noData),
        (NetworkError(.encoding), .requestCannotBeBuilt),
    ]

    @Test("Each error has its old case", arguments: errors)
    func mapping(error: NetworkError, expected: ServiceError) async {
        #expect(ServiceError(error) == expected)
        let client = APIClient.mock { $0.fail(with: error) }
        let result = await CurlewNetworkService(client: client).result(of: GetUser(id: 1), as: User.self)
        #expect(throws: expected) { try result.get() }
    }

    @Test("A body of another shape, and none at all")
    func bodies() async {
        let client = APIClient.mock {
            $0.on(.get, "/users/1", .json(text: #"{"id": "one"}"#))
            $0.on(.get, "/users/2", .status(200))
        }
        let service = CurlewNetworkService(client: client)
        let shape = await service.result(of: GetUser(id: 1), as: User.self)
        #expect(throws: ServiceError.responseCannotBeParsed) { try shape.get() }
        let none = await service.result(of: GetUser(id: 2), as: User.self)
        #expect(throws: ServiceError.noData) { try none.get() }
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct ScreenTests {
    @Test("Both show the same, signed in and not, and when the server is down")
    func same() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let session = Session()
        let home = APIClient(baseURL: "\(api.url)", pipeline: []).withActions(session, Journal())

        func texts(_ client: APIClient) async -> [String] {
            let old = ProfileScreen(service: CurlewNetworkService(client: client))
            await withCheckedContinuation { done in old.appear { done.resume() } }
            let new = ModernProfileScreen(client: client)
            await new.load()
            return [old.text, new.text]
        }
        #expect(await texts(home) == ["Please sign in", "Please sign in"])
        let tokens = try await home.send(LogIn(username: "emilys", password: "emilyspass"))
        await session.signIn(tokens.accessToken)
        #expect(await texts(home) == ["Emily and Michael", "Emily and Michael"])
        #expect(
            await texts(home.with(query: ["fail": 500])) == ["Something went wrong", "Something went wrong"])
    }
}
