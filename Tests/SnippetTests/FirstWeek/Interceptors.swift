// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording

struct Tenant: Interceptor {
    let name: String

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Tenant"] = name
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
        print(client)  // Logging(line) → Bearer → transport, and what is wrong, if anything

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

    static func alone() async throws -> HTTPResponse {
        let next = Next { request, _ in
            HTTPResponse(status: request.headers["X-Tenant"] == "acme" ? .accepted : .badRequest)
        }
        let request = try HTTPRequest(.get, url: "https://api.example.com/users")
        let response = try await Tenant(name: "acme").intercept(request, next: next)

        return response
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
        configuration.fields.secretMembers = ["appid", "patient"]  // queries, forms, JSON, text
        configuration.fields.secretPaths = ["/bot*", "/services/*/*/*"]  // what the stars stand for
        configuration.fields.harmless = ["X-Partition-Key"]  // shown, and sent to other origins

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
