// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import Testing

@Suite("A route that is sent for nothing", .timeLimit(.minutes(1)))
struct RouteWithoutAnswerTests {
    enum FilmsAPI: Route {
        case list
        case rate(Int)

        var method: HTTPMethod { if case .rate = self { .post } else { .get } }
        var path: RequestPath { "/films" }
    }

    struct Count: Endpoint {
        typealias Response = Int
        var path: RequestPath { "/count" }
    }

    private let mock = MockTransport {
        $0.on(.post, "/films", .text("no JSON at all", status: .created))
        $0.on(.get, "/films", .json(text: #"["Metropolis"]"#))
        $0.on(.get, "/count", .json(text: "3"))
    }

    @Test("its body is not looked at, and no media type is asked for")
    func sent() async throws {
        let client = APIClient.mock(mock)
        try await client.send(FilmsAPI.rate(4).ignoringBody())
        #expect(mock.requests.first?.request.headers[.accept] == "*/*")
        let response = try await client.response(for: FilmsAPI.rate(4).ignoringBody())
        #expect(response.status == .created)
    }

    @Test("its status counts")
    func refused() async {
        mock.on(.post, "/films", .status(.forbidden))
        await #expect(throws: NetworkError(statusCode: 403)) {
            try await APIClient.mock(mock).send(FilmsAPI.rate(4).ignoringBody())
        }
    }

    @Test("a completion receives it, on the main actor and elsewhere")
    func completions() async throws {
        let client = APIClient.mock(mock)
        let here = SharedResult<Void>()
        client.send(FilmsAPI.rate(4).ignoringBody()) { result in here.finish(result.mapError { $0 as any Error }) }
        try await here.wait()
        let there = SharedResult<Void>()
        client.send(FilmsAPI.rate(4).ignoringBody(), deliverOn: .anywhere) { result in
            there.finish(result.mapError { $0 as any Error })
        }
        try await there.wait()
    }

    @Test("what has a response keeps it")
    func others() async throws {
        let client = APIClient.mock(mock)
        let films: [String] = try await client.send(FilmsAPI.list.decoding())
        #expect(films == ["Metropolis"])
        let count = try await client.send(Count())
        #expect(count == 3)
        #expect(try await client.response(for: Count()).value == 3)
        #expect(try await client.send(FilmsAPI.list.decoding([String].self)) == ["Metropolis"])
    }
}
