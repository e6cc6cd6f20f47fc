// SPDX-License-Identifier: MIT

import Curlew
import CurlewURLSession  // links FoundationNetworking on Linux

#if os(Linux)
import FoundationNetworking
#endif

enum URLSessionPage {
    static func client() -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard, transport: URLSessionTransport())

        return client
    }

    static func settings() -> URLSessionTransport {
        let settings = URLSessionConfiguration.ephemeral
        settings.networkServiceType = .background
        let transport = URLSessionTransport(session: settings)

        return transport
    }

    static func requests(_ client: APIClient, _ request: URLRequest) async throws -> (HTTPResponse, Data, User) {
        let response = try await client.send(urlRequest: request)  // any status
        let data = try await client.data(for: request)  // throws if no success
        let user: User = try await client.send(urlRequest: request)  // decoded

        return (response, data, user)
    }

    @MainActor
    static func completion(_ client: APIClient, _ request: URLRequest, _ screen: Screen) {
        client.send(Request<User>(request)) { result in
            if case .success(let user) = result { screen.show(user) }
        }
    }
}
