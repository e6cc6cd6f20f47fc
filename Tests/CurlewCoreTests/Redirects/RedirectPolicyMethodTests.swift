// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// Methods and bodies: RFC 9110 §15.4, and the Fetch standard (HTTP-redirect fetch) where that leaves a choice.
@Suite(.timeLimit(.minutes(1)))
struct RedirectPolicyMethodTests {
    static let methods: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .query, "PROPFIND", "post",
    ]

    static func decide(
        _ status: HTTPStatus, _ method: HTTPMethod, body: RequestBody = .bytes(Data("x".utf8)),
        headers: HTTPHeaders = [:], location: String? = "/next", policy: RedirectPolicy = .standard
    ) throws -> RedirectPolicy.Decision {
        let request = try HTTPRequest(method, url: "https://a.test/first", headers: headers, body: body)
        var answer = HTTPHeaders()
        answer[.location] = location
        return policy.decide(status, answer, to: request, after: RedirectTrail())
    }

    @Test(
        "The method of the next request follows from status and method", arguments: [301, 302, 303, 307, 308], methods)
    func method(status: Int, method: HTTPMethod) throws {
        let becomesGet =
            switch status {
            case 301, 302: method == .post
            case 303: method != .get && method != .head
            default: false
            }
        guard case .follow(let next, let redirect) = try Self.decide(HTTPStatus(status), method) else {
            Issue.record("\(status) \(method) is not followed")
            return
        }
        #expect(next.method == (becomesGet ? .get : method))
        #expect(next.body.isEmpty == becomesGet)
        #expect(redirect.dropsBody == becomesGet)
        #expect(redirect.status.code == status && redirect.method == method && redirect.nextMethod == next.method)
        #expect(redirect.url == "https://a.test/first" && redirect.nextURL == "https://a.test/next")
    }

    @Test(
        "A response of another status goes to the caller, with or without Location",
        arguments: [200, 201, 300, 304, 305, 306, 309, 399, 400, 503])
    func otherStatus(status: Int) throws {
        for method in Self.methods {
            guard case .deliver(because: nil) = try Self.decide(HTTPStatus(status), method) else {
                Issue.record("\(status) \(method)")
                continue
            }
        }
    }

    @Test("A response without Location is the caller's", arguments: [301, 302, 303, 307, 308])
    func noLocation(status: Int) throws {
        guard case .deliver(let reason) = try Self.decide(HTTPStatus(status), .get, location: nil) else {
            Issue.record("followed")
            return
        }
        #expect(reason == "The response has no Location.")
    }

    static let oneShot = RequestBody.stream { RequestBody.Chunks(AsyncStream<Data> { $0.finish() }) }
    static let again = RequestBody.stream(replay: .always) { RequestBody.Chunks(AsyncStream<Data> { $0.finish() }) }

    @Test("A body that exists only once is not sent again; a body that is dropped does not matter")
    func oneShotBody() throws {
        for status in [307, 308] as [HTTPStatus] {
            guard case .fail(let error) = try Self.decide(status, .post, body: Self.oneShot) else {
                Issue.record("\(status) is followed")
                continue
            }
            #expect(error.reason == .refused(by: .redirects))
            #expect(error.hint?.contains("replay: .always") == true)
            guard case .follow(let next, _) = try Self.decide(status, .post, body: Self.again) else {
                Issue.record("\(status) with a body that can be replayed is not followed")
                continue
            }
            #expect(!next.body.isEmpty)
        }
        guard case .fail = try Self.decide(302, .put, body: Self.oneShot) else {
            Issue.record("302 PUT keeps its body")
            return
        }
        guard case .follow = try Self.decide(303, .put, body: Self.oneShot),
            case .follow = try Self.decide(301, .post, body: Self.oneShot)
        else {
            Issue.record("no body is needed")
            return
        }
    }

    @Test("With the body go the fields that describe it, and no others (RFC 9110 §15.4)")
    func contentFields() throws {
        let headers: HTTPHeaders = [
            .contentType: "text/plain", "content-encoding": "gzip", "Content-Language": "en", "Content-Location": "/x",
            "Content-Length": "1", "Content-Digest": "x", "Content-Anything": "x", "Digest": "x", "Repr-Digest": "x",
            "Last-Modified": "x", "Transfer-Encoding": "chunked", "Trailer": "x", "Expect": "100-continue",
            .accept: "*/*", .authorization: "Bearer t", "X-Content-Other": "kept", .cookie: "a=b",
        ]
        guard case .follow(let next, let redirect) = try Self.decide(303, .post, headers: headers) else {
            Issue.record("not followed")
            return
        }
        #expect(next.headers.map(\.name.text) == ["Accept", "Authorization", "X-Content-Other", "Cookie"])
        #expect(redirect.droppedFields.count == 13)
        guard case .follow(let same, let kept) = try Self.decide(307, .post, headers: headers) else {
            Issue.record("not followed")
            return
        }
        #expect(same.headers == headers)
        #expect(kept.droppedFields.isEmpty)
    }

    @Test("A redirect says in one line what was followed, without secrets")
    func description() throws {
        let request = try HTTPRequest(
            .post, url: "https://a.test/x?token=hunter2", headers: [.cookie: "hunter2", .contentType: "text/plain"],
            body: .bytes(Data("x".utf8)))
        let answer: HTTPHeaders = [.location: "https://b.test/y?code=hunter2"]
        guard
            case .follow(_, let redirect) = RedirectPolicy.standard.decide(
                303, answer, to: request, after: RedirectTrail())
        else {
            Issue.record("not followed")
            return
        }
        #expect(
            "\(redirect)"
                == "303 POST https://a.test/x?token=REDACTED → GET https://b.test/y?code=REDACTED, to another origin, "
                + "without the body, without Cookie, Content-Type")
    }
}
