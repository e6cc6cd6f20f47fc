// SPDX-License-Identifier: MIT

import CurlewResilience
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NetworkErrorEqualityTests {
    private enum Own: Error {
        case first
        case second(String)
    }

    @Test("An error of a call equals one that a test makes")
    func expected() async throws {
        let client = APIClient.mock { $0.onAny { _ in .text("busy", status: .serviceUnavailable) } }
        await #expect(throws: NetworkError(statusCode: 503)) { try await client.send(Request<Int>.get("/a")) }
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Int>.get("/b")) }
        #expect(error != NetworkError(statusCode: 502) && error != NetworkError(.unreachable))
    }

    @Test("Equality ignores request and texts, and compares phase, policy and status")
    func meaning() throws {
        let request = try HTTPRequest(.get, url: "https://api.example/")
        let plain = NetworkError(.timedOut(.idle))
        let told = NetworkError(
            .timedOut(.idle), detail: "No byte.", hint: "Wait.", request: NetworkError.RequestLine(request))
        #expect(plain == told && plain.hashValue == told.hashValue)
        #expect(plain != NetworkError(.timedOut(.total)))
        #expect(NetworkError(.refused(by: .rateLimit)) != NetworkError(.refused(by: .overload)))
    }

    @Test("Errors of the app are distinguished by type and case")
    func own() {
        #expect(NetworkError(Own.first) == NetworkError(Own.first))
        #expect(NetworkError(Own.first) != NetworkError(Own.second("a")))
        #expect(NetworkError(Own.second("a")) == NetworkError(Own.second("b")))
        #expect(NetworkError(Own.first) != NetworkError(.interceptor))
    }
}
