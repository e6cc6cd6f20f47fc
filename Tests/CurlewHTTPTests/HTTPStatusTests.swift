// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPStatusTests {
    @Test(
        "The first digit decides the class",
        arguments: [
            (99, nil), (100, 1), (199, 1), (200, 2), (299, 2), (300, 3), (399, 3), (400, 4), (499, 4), (500, 5),
            (599, 5),
            (600, nil), (0, nil), (-404, nil),
        ] as [(Int, Int?)])
    func classes(code: Int, digit: Int?) {
        let status = HTTPStatus(code)
        let flags = [
            status.isInformational, status.isSuccess, status.isRedirection, status.isClientError, status.isServerError,
        ]
        #expect(flags == (1...5).map { $0 == digit })
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
