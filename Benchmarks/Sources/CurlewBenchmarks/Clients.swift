// SPDX-License-Identifier: MIT

import Curlew
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The model of the small answer. Every typed client decodes the same bytes into it.
struct User: Decodable, Sendable {
    let id: Int
    let firstName: String
    let lastName: String
    let email: String
    let age: Int
    let isActive: Bool
}

extension Request {
    static var user: Request<User> { .get("/user.json") }
}

/// The clients that are compared: each is one call, made again and again by every lane.
enum Clients {
    static let canned = Data(
        #"{"id":1,"firstName":"Emily","lastName":"Johnson","email":"emily.johnson@example.com","age":28,"isActive":true,"role":"admin","city":"Phoenix","company":"Dooley, Kozey and Cronin","title":"Sales Manager"}"#
            .utf8)

    static func make(_ name: String, width: Int, url: String) throws -> @Sendable () async throws -> Void {
        switch name {
        case "curlew": try curlew(url: url, width: width)
        case "curlew-transport": try curlewTransport(url: url, width: width)
        case "urlsession": urlSession(url: url, connections: nil)
        case "urlsession-wide": urlSession(url: url, connections: width)
        case "layer": layer()
        case "decoder": decoderAlone()
        default: throw Failure("no client is called \(name)")
        }
    }

    /// What an app writes: a typed call.
    private static func curlew(url: String, width: Int) throws -> @Sendable () async throws -> Void {
        let transport = CurlTransport(
            configuration: TransportConfiguration(pool: ConnectionPool(perHost: max(64, width))))
        let client = APIClient(baseURL: try BaseURL(url), pipeline: .standard, transport: transport)
        return {
            let user = try await client.send(.user)
            guard user.id == 1 else { throw Failure("wrong answer") }
        }
    }

    /// The engine alone, without types.
    private static func curlewTransport(url: String, width: Int) throws -> @Sendable () async throws -> Void {
        let transport = CurlTransport(
            configuration: TransportConfiguration(pool: ConnectionPool(perHost: max(64, width))))
        let request = try HTTPRequest(url: url + "/user.json")
        return {
            let data = try await transport.send(request, in: ExchangeContext()).data()
            guard data.count == canned.count else { throw Failure("wrong answer") }
        }
    }

    /// URLSession as its users write it, with a decoder made once.
    private static func urlSession(url: String, connections: Int?) -> @Sendable () async throws -> Void {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        if let connections { configuration.httpMaximumConnectionsPerHost = connections }
        let session = URLSession(configuration: configuration)
        let target = URL(string: url + "/user.json")
        let decoder = JSONDecoder()
        return {
            guard let target else { throw Failure("no URL") }
            let (data, response) = try await session.data(for: URLRequest(url: target))
            guard (response as? HTTPURLResponse)?.statusCode == 200, try decoder.decode(User.self, from: data).id == 1
            else { throw Failure("wrong answer") }
        }
    }

    /// A typed call over a transport that answers at once: what the layer costs, decoding included.
    private static func layer() -> @Sendable () async throws -> Void {
        let transport = ClosureTransport { _, _ in
            HTTPResponse(headers: ["Content-Type": "application/json"], body: ResponseBody(canned))
        }
        let client = APIClient(baseURL: "http://127.0.0.1", pipeline: .standard, transport: transport)
        return {
            let user = try await client.send(.user)
            guard user.id == 1 else { throw Failure("wrong answer") }
        }
    }

    /// The decoder alone, to take off from `layer`.
    private static func decoderAlone() -> @Sendable () async throws -> Void {
        let decoder = JSONDecoder()
        return {
            guard try decoder.decode(User.self, from: canned).id == 1 else { throw Failure("wrong answer") }
        }
    }
}
