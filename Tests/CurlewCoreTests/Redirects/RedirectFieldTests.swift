// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore
@testable import CurlewHTTP
@testable import CurlewObservability
@testable import CurlewResilience

/// Only fields that are known to be harmless, or declared so, go to another origin.
@Suite(.timeLimit(.minutes(1)))
struct RedirectFieldTests {
    /// Names in `IdentityWay.names` of the fields that each hop of a call received. The call brings all of them along,
    /// or a hook adds them.
    private static func received(
        by hook: Placement?, over way: [String], _ status: HTTPStatus, _ method: HTTPMethod
    ) async throws -> [Set<HTTPField.Name>] {
        let names = Set(IdentityWay.names.map { HTTPField.Name($0) })
        let fields = HTTPHeaders(names.map { HTTPField(name: $0, value: "s3cret") })
        var pipeline = Pipeline.standard
        if let hook {
            pipeline = pipeline.adding(
                .onRequest(at: hook) { request, _ in
                    request.headers = request.headers.merging(fields, replacing: true)
                })
        }
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: pipeline) {
            $0.onAny { call in
                guard call.context.hop < way.count else { return .status(200) }
                return .status(status, headers: [.location: "\(way[call.context.hop])/\(call.context.hop + 1)"])
            }
        }
        var call = Request<HTTPResponse>(method, "/0", body: method == .post ? .text("body") : .none)
        if hook == nil { for field in fields { call = call.header(field.name, field.value) } }
        try await client.send(call)
        return client.recordedCalls.map { names.intersection($0.request.headers.map(\.name)) }
    }

    @Test(
        "Sixty fields that identify users or keys stay at their origin",
        arguments: [301, 302, 303, 307, 308] as [HTTPStatus], [.get, .post] as [HTTPMethod])
    func unknown(status: HTTPStatus, method: HTTPMethod) async throws {
        let (a, b, c) = ("https://a.test", "https://b.test", "https://c.test")
        var (fields, leaks) = (0, [String]())
        for way in [[b], [b, c], [b, b], [b, a], [a, b, a, a], ["https://a.test:8443"], ["https://sub.a.test"]] {
            for hook in [nil, .logging, .cookies, .custom, .attemptTimeout] as [Placement?] {
                let received = try await Self.received(by: hook, over: way, status, method)
                var isForeign = false
                for ((hop, origin), found) in zip(([a] + way).enumerated(), received) {
                    isForeign = isForeign || origin != a
                    fields += IdentityWay.names.count
                    // At home all of them arrive, so that this test can fail.
                    #expect(isForeign || found.count == 60, "hop \(hop) of \(way) by \(hook as Any)")
                    if isForeign { leaks += found.map { "\($0) at hop \(hop) of \(way) by \(hook as Any)" } }
                }
            }
        }
        #expect(fields == 60 * 5 * 20)
        #expect(leaks.count == 0, "\(leaks.count) of \(fields) fields arrived; first: \(leaks.prefix(3))")
    }

    /// The fields that arrive at the second origin, of a call with `headers` and a hook that adds `added` at each hop.
    private static func forwarded(
        _ headers: HTTPHeaders, adding added: HTTPHeaders = [:], _ policy: RedirectPolicy = .standard,
        configuration: APIClient.Configuration = APIClient.Configuration(userAgent: nil)
    ) async throws -> Set<HTTPField.Name> {
        let pipeline = Pipeline([.redirects(policy)]).adding(
            .onRequest { request, _ in request.headers = request.headers.merging(added, replacing: true) })
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: pipeline, configuration: configuration) {
            $0.onAny { $0.context.hop > 0 ? .status(200) : .status(307, headers: [.location: "https://b.test/"]) }
        }
        var call = Request<HTTPResponse>(.post, "/", body: .text("body"))
        for field in headers { call = call.header(field.name, field.value) }
        try await client.send(call)
        return Set(client.recordedCalls[1].request.headers.map(\.name))
    }

    @Test("Fields that are known to be harmless are sent along, from the call and from interceptors")
    func harmless() async throws {
        // The length belongs to the body, and the transport writes it.
        let names = HTTPField.Name.harmless.subtracting([.contentLength])
        let headers = HTTPHeaders(names.map { HTTPField(name: $0, value: $0 == .contentType ? "text/plain" : "1") })
        #expect(try await Self.forwarded(headers).isSuperset(of: names))
        #expect(try await Self.forwarded([:], adding: headers).isSuperset(of: names))
    }

    @Test("A declared field is sent along; secrets and fields of the origin never are")
    func declared() async throws {
        let names: Set<HTTPField.Name> = [
            "X-App", "X-Home", "X-Secret", .origin, .referer, .authorization, .cookie,
        ]
        let headers = HTTPHeaders(names.map { HTTPField(name: $0, value: "1") })
        let policy = RedirectPolicy.standard.forwarding(names).keeping(secret: ["x-secret"])
        var configuration = APIClient.Configuration(headers: ["X-Home": "1", "X-Other": "1"], userAgent: nil)
        configuration.timeouts = .none
        for (own, added) in [(headers, HTTPHeaders()), (HTTPHeaders(), headers)] {
            let found = try await Self.forwarded(own, adding: added, policy, configuration: configuration)
            #expect(found.intersection(names.union(["X-Other"])) == ["X-App", "X-Home"])
        }
        let undeclared = try await Self.forwarded(headers, adding: headers, configuration: configuration)
        #expect(undeclared.isDisjoint(with: names))
    }

    @Test("A harmless field that is declared secret stays at its origin")
    func harmlessSecret() async throws {
        let policy = RedirectPolicy.standard.keeping(secret: [.xRequestID])
        #expect(try await !Self.forwarded([.xRequestID: "1"], policy).contains(.xRequestID))
        #expect(try await !Self.forwarded([:], adding: [.xRequestID: "1"], policy).contains(.xRequestID))
        #expect(try await Self.forwarded([.xRequestID: "1"]).contains(.xRequestID))
    }

    @Test("The validators that a cache adds for the second origin arrive there")
    func validators() async throws {
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: .standard.adding(.caching())) {
            $0.onAny { call in
                if call.request.origin.host == "a.test" { return .status(302, headers: [.location: "https://b.test/"]) }
                if call.request.headers[.ifNoneMatch] == "\"1\"" { return .status(304, headers: [.eTag: "\"1\""]) }
                return HTTPResponse(
                    headers: [.cacheControl: "no-cache", .eTag: "\"1\""], body: ResponseBody(Data("text".utf8)))
            }
        }
        #expect(try await client.send(Request<String>.get("/")) == "text")
        #expect(try await client.response(for: Request<String>.get("/")).served == .revalidated)
    }
}
