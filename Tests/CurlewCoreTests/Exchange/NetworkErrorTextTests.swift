// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct NetworkErrorTextTests {
    static let reasons: [NetworkError.Reason] =
        [
            .cancelled, .invalidRequest, .configuration, .encoding, .unreachable, .badResponse, .decoding, .storage,
            .interceptor, .refused(by: .mock), .refused(by: .shutdown),
            .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived),
            .limitExceeded(.responseBody), .limitExceeded(.responseHeaders),
            .limitExceeded(.redirects), .refused(by: .redirects),
            .notAuthenticated(.missingCredential), .notAuthenticated(.sourceFailed),
        ]
        + [.expired, .notYetValid, .untrusted, .wrongHost, .pinMismatch, .clientCertificate, .handshake]
        .map { NetworkError.Reason.secureConnectionFailed($0) }
        + [.connect, .firstByte, .idle, .attempt, .total].map { NetworkError.Reason.timedOut($0) }
        + [199, 301, 400, 401, 403, 404, 408, 409, 410, 412, 413, 418, 422, 429, 500, 502, 503, 504, 599, 700].map {
            NetworkError.Reason.status(HTTPStatus($0))
        }

    /// An error with everything in it that a person must not see.
    static func full(_ reason: NetworkError.Reason) throws -> NetworkError {
        var error = NetworkError(
            reason, detail: "DETAIL of UserModel", hint: "HINT",
            request: NetworkError.RequestLine(try HTTPRequest(url: "https://host.test/path?q=777")),
            response: NetworkError.Response(
                status: 418, headers: [.contentType: "text/plain", "X-Header": "HEADER777"],
                body: Data("SERVER says 777".utf8)),
            underlying: NetworkError.TransportFailure(engine: "ENGINE", code: 777, message: "WORDS"))
        error.routeName = "GetUserModel"
        error.attempts = [
            NetworkError.Attempt(number: 777, duration: .seconds(777), outcome: .failed(.storage), notes: ["OUTCOME"])
        ]
        return error
    }

    @Test(
        "The user's texts are sentences without a URL, a type name or text of the server",
        arguments: reasons)
    func person(reason: NetworkError.Reason) throws {
        let error = try Self.full(reason)
        #expect(error.errorDescription == error.message)
        for text in [error.message, error.recoverySuggestion].compactMap({ $0 }) {
            #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "not a sentence: \(text)")
            #expect(!text.contains(where: { "0123456789/:_<>{}\"`".contains($0) }), "\(text)")
            let foreign = ["DETAIL", "HINT", "host", "SERVER", "HEADER", "WORDS", "ENGINE", "OUTCOME", "Error", "nil"]
            for word in foreign { #expect(!text.contains(word), "\(text)") }
            let words = text.split { !$0.isLetter }
            let typeNames = words.filter { $0.dropFirst().contains(where: \.isUppercase) }
            #expect(typeNames.isEmpty, "\(typeNames) in \(text)")
        }
    }

    @Test(
        "The developer's text has the reason, the request, the response, the attempts and the cause",
        arguments: reasons)
    func developer(reason: NetworkError.Reason) throws {
        let text = try Self.full(reason).description
        let parts = [
            "DETAIL", "GET https://host.test/path?q=777", "(GetUserModel)", "418", "text/plain", "SERVER says 777",
            "attempt   777: storage after 777 s (OUTCOME)", "HINT",
        ]
        for part in parts { #expect(text.contains(part), "\(part) is missing in \(text)") }
        #expect(text.contains("WORDS") == (reason != .interceptor))
        #expect(try "\(Self.full(reason))".hasPrefix("NetworkError: \(Self.full(reason).label)\n"))
        #expect(try String(reflecting: Self.full(reason)) == text)
    }

    @Test("Each reason has a label for metrics, without unbounded content")
    func labels() throws {
        let labels = try Self.reasons.map { try Self.full($0).label }
        #expect(Set(labels).count == labels.count)
        for label in labels { #expect(label.split(separator: " ").count <= 2 && label.count < 50, "\(label)") }
        #expect(NetworkError(statusCode: 503).label == "status 503")
        #expect("\(NetworkError.Reason.timedOut(.firstByte))" == "timedOut firstByte")
    }

    @Test(
        "Each reason has a value of error.type",
        arguments: [
            (.cancelled, "cancelled"), (.invalidRequest, "invalid_request"), (.badResponse, "bad_response"),
            (.proxyFailed(.unreachable), "proxy_unreachable"), (.proxyFailed(.refused(403)), "proxy_refused"),
            (.proxyFailed(.notAuthenticated), "proxy_not_authenticated"),
            (.secureConnectionFailed(.notYetValid), "tls_not_yet_valid"), (.timedOut(.idle), "timed_out_idle"),
            (.connectionLost(.requestNotSent), "connection_lost_request_not_sent"),
            (.connectionLost(.requestMayHaveArrived), "connection_lost"), (.status(503), "503"),
            (.limitExceeded(.responseHeaders), "limit_exceeded_response_headers"), (.storage, "storage"),
            (.notAuthenticated(.tooManyRefreshes), "not_authenticated_too_many_refreshes"),
            (.refused(by: .mock), "refused"), (.timedOut(.firstByte), "timed_out_first_byte"),
        ] as [(NetworkError.Reason, String)])
    func errorTypes(reason: NetworkError.Reason, expected: String) {
        #expect(reason.errorType == expected)
    }

    @Test(
        "The wait that a server asks for is shown in seconds or minutes, and capped",
        arguments: [
            ("0", "a second"), ("1", "a second"), ("17", "17 seconds"), ("120", "120 seconds"), ("121", "3 minutes"),
            ("3600", "60 minutes"), ("99999999999999999999", "1440 minutes"),
        ])
    func retryAfter(value: String, expected: String) {
        let error = NetworkError(statusCode: 429, headers: [.retryAfter: value])
        #expect(error.recoverySuggestion == "Try again in \(expected).")
    }

    @Test("No secret of the request or the response is in the developer's text")
    func secrets() throws {
        let request = try HTTPRequest(url: "https://host.test/?token=hunter2")
        let bodies: [(String, String)] = [
            ("application/json", #"{"error":"no","password":"hunter2"}"#),
            ("application/x-www-form-urlencoded", "error=no&password=hunter2"),
            ("application/json", #"{"error":"no","nested":{"refreshToken":["hunter2"#),
        ]
        for (type, body) in bodies {
            let answer = NetworkError.Response(
                status: 400, headers: [.contentType: type, .setCookie: "a=hunter2"], body: Data(body.utf8))
            let error = NetworkError(.status(400), request: NetworkError.RequestLine(request), response: answer)
            #expect(!error.description.contains("hunter2"), "\(error)")
            #expect(error.description.contains("no"))
        }
    }

    @Test("A body that is not text is shown by its size, and a long one is cut")
    func excerpts() {
        let binary = NetworkError(statusCode: 500, body: Data([0, 1, 2]))
        #expect(binary.description.contains("3 bytes that are not text"))
        let long = NetworkError(statusCode: 500, body: Data(String(repeating: "word ", count: 1000).utf8))
        #expect(long.description.utf8.count < 700)
        let lines = NetworkError(statusCode: 500, body: Data("a\n\n  b\u{9B}2J".utf8))
        #expect(lines.description.contains("a b\\u{9B}2J") || lines.description.contains("a b\\u{009B}2J"))
    }
}
