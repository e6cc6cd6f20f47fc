// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording
import CurlewTesting
import Testing

struct DeviceToken: Interceptor {
    let token: String

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Device-Token"] = token
        return try await next(request)
    }
}

struct DeviceKey: Interceptor {
    let key: String

    var traits: InterceptorTraits {
        var traits = InterceptorTraits(placement: .authentication) { _, context in
            .holder(of: ["device", key], in: context)
        }
        traits.fields.secret = ["X-Device"]
        return traits
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Device"] = key
        return try await next(request)
    }
}

nonisolated struct Watch: Sendable {
    func learn(from date: String?) {}
    func note(_ isOffline: Bool) {}
}

enum Interceptors {
    static func pipeline(_ keychain: Keychain) -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com",
            pipeline: [.logging(), .bearer { try await keychain.token() }])
        print(client)  // Logging(line) → Bearer → transport, and what is wrong

        return client
    }

    static func hooks(_ client: APIClient, clockSkew: Watch, reachability: Watch) -> APIClient {
        // swift-format-ignore
        let watched = client
            .adding(.onRequest { request, context in request.headers["X-Request-ID"] = "\(context.id)" })
            .adding(.onResponse { response, _ in clockSkew.learn(from: response.headers[.date]) })
            .adding(.onError { error, _ in reachability.note(error.isOffline) })

        return watched
    }

    static func harmless() -> Pipeline {
        let pipeline = Pipeline.standard
            .adding(.caching())
            .adding(.onRequest(changesPrincipal: false) { request, _ in request.headers["X-App"] = "films" })

        return pipeline
    }

    static func declared() -> APIClient.Configuration {
        var configuration = APIClient.Configuration()
        configuration.fields.secret = ["X-Device"]  // a header field
        configuration.fields.secretMembers = ["appid", "patient"]  // JSON, forms, …
        configuration.fields.secretPaths = ["/bot*", "/services/*/*/*"]  // every *
        configuration.fields.harmless = ["X-Partition-Key"]  // sent anywhere

        return configuration
    }

    static func redaction() -> APIClient {
        let mine = Redaction.standard.adding(Redaction.Rules(secretMembers: ["patient"]))
        let client = APIClient(baseURL: "https://api.example.com", pipeline: [.logging(.body, redaction: mine)])

        return client
    }

    static func curl(_ client: APIClient, _ user: NewUser) throws {
        print(try client.request(for: .create(user)).curlCommand())
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DeviceKeyTests {
    @Test func staysAtItsOrigin() async throws {
        let client = APIClient.mock(pipeline: .standard.adding(DeviceToken(token: "a"))) {
            $0.on(.get, "/film", .text("Nosferatu"))
            $0.on(.get, "/old", .status(302, headers: [.location: "https://cdn.example.com/film"]))
        }
        try await client.send(.get("/old"))
        // not at the other origin
        #expect(client.recordedCalls.map { $0.headers["X-Device-Token"] } == ["a", nil])
        #expect(client.recordedCalls.first?.headers.description.contains("X-Device-Token: a") == false)
    }

    @Test func separatesHolders() async throws {
        let mock = MockTransport {
            $0.on(.get, "/film", .json(text: "{}", headers: [.cacheControl: "max-age=60"]))
        }
        let store = HTTPCache.MemoryStore()
        for key in ["a", "a", "b"] {
            let cached = Pipeline.standard.adding(.caching(store: store))
            let client = APIClient.mock(mock, pipeline: cached.adding(DeviceKey(key: key)))
            try await client.send(.get("/film"))
        }
        // one stored response for each holder
        #expect(mock.requests.map { $0.headers["X-Device"] } == ["a", "b"])
    }
}
