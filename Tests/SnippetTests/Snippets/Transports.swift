// SPDX-License-Identifier: MIT

import Curlew

#if os(Linux)
struct MyTransport: Transport {
    let engine: CurlTransport

    init(_ configuration: TransportConfiguration) {
        engine = CurlTransport(configuration: configuration)
    }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Gateway"] = "eu-1"
        return try await engine.send(request, in: context)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        engine.principal(of: request, in: context)  // same for all users
    }
}

enum Transports {
    static func engines(_ configuration: TransportConfiguration) -> [APIClient] {
        let shared = APIClient(baseURL: "https://api.example.com")  // one for all
        let own = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard,
            transport: CurlTransport(configuration: configuration))

        return [shared, own]
    }

    static func closure() -> APIClient {
        let canned = ClosureTransport { request, context in
            HTTPResponse(headers: [.contentType: "application/json"], body: ResponseBody(Data("[]".utf8)))
        }
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard, transport: canned)

        return client
    }
}
#endif
