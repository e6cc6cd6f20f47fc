// SPDX-License-Identifier: MIT

import Curlew
import Testing

@testable import FilmCatalogue

@Suite(.timeLimit(.minutes(1)))
struct FilmErrorTests {
    private static let table: [(NetworkError, FilmError, String)] = [
        (NetworkError(statusCode: 401), FilmError.signedOut, "Sign in to do this."),
        (NetworkError(.notAuthenticated(.missingCredential)), .signedOut, "Sign in to do this."),
        (
            NetworkError(.notAuthenticated(.refreshFailed)), .noAnswer("Your sign-in could not be renewed."),
            "Your sign-in could not be renewed."
        ),
        (said(404, "film_not_found"), .notFound, "This film is not in the catalogue."),
        (
            NetworkError(statusCode: 429, headers: [.retryAfter: "7"]), .tooOften(wait: .seconds(7)),
            "That was too often. Try again in 7 s."
        ),
        (NetworkError(statusCode: 429), .tooOften(wait: nil), "That was too often. Try again in a moment."),
        (said(422, "One to five stars."), .refused("One to five stars."), "One to five stars."),
        (NetworkError(statusCode: 418), .refused(nil), "The catalogue does not take this."),
        (
            NetworkError(statusCode: 400, body: Data("<html>".utf8)), .refused(nil),
            "The catalogue does not take this."
        ),
        (said(500, "stack trace"), .serverFailed(500), "The catalogue has a problem (500). Try again later."),
        (NetworkError(statusCode: 503), .serverFailed(503), "The catalogue has a problem (503). Try again later."),
        (
            NetworkError(.timedOut(.firstByte)), .noAnswer("The server took too long to respond."),
            "The server took too long to respond."
        ),
    ]

    @Test("Each failure has its case and its sentence", arguments: table)
    func cases(error: NetworkError, expected: FilmError, sentence: String) {
        #expect(FilmError(error) == expected)
        #expect(FilmError(error)?.message == sentence)
        #expect(FilmError(error)?.errorDescription == sentence)
    }

    @Test("A cancelled call is nothing to show")
    func cancelled() {
        #expect(FilmError(NetworkError(.cancelled)) == nil)
    }

    @Test("Texts of a server are bounded")
    func longWords() {
        guard case .refused(let words?) = FilmError(Self.said(400, String(repeating: "no ", count: 1000))) else {
            Issue.record("400 is refused")
            return
        }
        #expect(words.count == 200)
    }

    /// What the service answers.
    private static func said(_ status: Int, _ message: String) -> NetworkError {
        NetworkError(statusCode: status, body: Data(#"{"message": "\#(message)", "code": "some_code"}"#.utf8))
    }
}
