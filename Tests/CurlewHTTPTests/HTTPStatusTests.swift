// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPStatusTests {
    @Test(
        "The first digit decides the class",
        arguments: [
            (99, .other), (100, .informational), (199, .informational), (200, .successful), (299, .successful),
            (300, .redirection), (399, .redirection), (400, .clientError), (499, .clientError), (500, .serverError),
            (599, .serverError), (600, .other), (0, .other), (-404, .other),
        ] as [(Int, HTTPStatus.Kind)])
    func kinds(code: Int, kind: HTTPStatus.Kind) {
        let status = HTTPStatus(code)
        #expect(status.kind == kind)
        let flags = [
            status.isInformational, status.isSuccess, status.isRedirection, status.isClientError, status.isServerError,
        ]
        let kinds: [HTTPStatus.Kind] = [.informational, .successful, .redirection, .clientError, .serverError]
        #expect(flags == kinds.map { $0 == kind })
    }

    @Test(
        "A description is the code with its phrase",
        arguments: [
            (.ok, "200 OK"), (.notFound, "404 Not Found"), (.contentTooLarge, "413 Content Too Large"),
            (.earlyHints, "103 Early Hints"), (505, "505 HTTP Version Not Supported"),
            (599, "599"), (299, "299"), (7, "7"),
        ] as [(HTTPStatus, String)])
    func descriptions(status: HTTPStatus, text: String) {
        #expect(status.description == text)
    }

    @Test("1xx, 204 and 304 never have content (RFC 9110 §6.4.1)")
    func content() {
        let without = (100...599).map { HTTPStatus($0) }.filter(\.forbidsContent).map(\.code)
        #expect(without == Array(100...199) + [204, 304])
    }
}

@Suite(.timeLimit(.minutes(1)))
struct HTTPVersionTests {
    @Test("HTTP/2 and later are written without a minor number")
    func descriptions() {
        let all: [HTTPVersion] = [.http1_0, .http1_1, .http2, .http3]
        #expect(all.map(\.description) == ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"])
        #expect(all.sorted() == all)
    }
}
