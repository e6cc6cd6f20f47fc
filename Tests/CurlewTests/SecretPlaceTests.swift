// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore
@testable import CurlewObservability
@testable import CurlewRecording
@testable import CurlewResilience

/// A secret in each place where a caller can put one, against each way in which anything of a call is written down.
/// One case after the other: it is long, and must not keep others from their turn.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct SecretPlaceTests {
    static let canary = "hunter2"

    /// Where the secret is.
    enum Place: CaseIterable {
        case knownField, declaredField, clientField, knownQuery, declaredQuery, clientQuery, path, basePath
        case json, nestedJSON, form, multipart, text, markup, cookieField, cookieStore
        case basic, digest, keyField, keyQuery, bearer, tokens, hook, signature, authority, refusedPath
    }

    /// What becomes of the call.
    enum Outcome: CaseIterable {
        case answer, refusal, redirect, brokenRedirect, unreadable, failure, foreignFailure, stored
    }

    static let rules = Redaction.Rules(
        secret: ["X-Device"], secretMembers: ["App-ID", "ssn"], secretPaths: ["/bot*"])

    struct Body: Encodable, Sendable {
        var ssn = SecretPlaceTests.canary
        var note = "at https://a.test/bothunter2/x?appid=hunter2"
    }

    struct Foreign: Error, CustomStringConvertible {
        let description =
            "no way to https://u:hunter2@h.test/bothunter2/x?appid=hunter2, X-Device: hunter2, ssn=hunter2"
    }

    /// A server that echoes its request, and the secret under the declared names.
    static func answer(_ call: RecordedRequest, _ outcome: Outcome) throws -> HTTPResponse {
        let location = "https://other.test/bothunter2/x?appid=hunter2&token=hunter2#ssn=hunter2"
        var headers: HTTPHeaders = [
            "X-Device": canary, "X-Api-Key": canary, .contentType: "application/json", .setCookie: "sid=hunter2",
            "Content-Location": "/bothunter2/x?appid=hunter2", "Authentication-Info": "nextnonce=hunter2",
        ]
        for name in ["X-Plain", "X-Signature"] { headers[HTTPField.Name(name)] = call.request.headers[.init(name)] }
        let body = Data(#"{"ssn":"hunter2","url":"https://a.test/bothunter2/x?appid=hunter2","a":1}"#.utf8)
        switch outcome {
        case .answer: return HTTPResponse(headers: headers, body: ResponseBody(body), url: call.request.urlString)
        case .refusal: return HTTPResponse(status: .badRequest, headers: headers, body: ResponseBody(body))
        case .redirect:
            guard call.request.origin.host != "other.test" else { return HTTPResponse(headers: headers) }
            headers[.location] = location
            return HTTPResponse(status: .temporaryRedirect, headers: headers)
        case .brokenRedirect:
            headers[.location] = "ftp://u:hunter2@h.test/bothunter2/x?appid=hunter2"
            return HTTPResponse(status: .temporaryRedirect, headers: headers)
        case .unreadable: return HTTPResponse(headers: headers, body: ResponseBody(body + body))
        case .failure:
            throw NetworkError(
                .badResponse, detail: Foreign().description, hint: Foreign().description, underlying: Foreign())
        case .foreignFailure: throw Foreign()
        case .stored:
            headers.remove(.setCookie)
            headers[.cacheControl] = "max-age=60"
            headers[.vary] = "X-Device, X-Plain, Cookie"
            headers[.eTag] = "\"1\""
            return HTTPResponse(headers: headers, body: ResponseBody(body), url: call.request.urlString)
        }
    }

    static func call(_ place: Place) -> Request<JSONValue> {
        let call = Request<JSONValue>.get("/me")
        let post: (RequestContent) -> Request<JSONValue> = { Request<JSONValue>.post("/me", body: $0) }
        return switch place {
        case .knownField: call.header("X-Auth-Token", canary)
        case .declaredField: call.header("x-device", canary)
        case .knownQuery: call.query(["token": canary])
        case .declaredQuery: call.query(["appid": canary])
        case .path: .get("/v1/bot\(canary)/send")
        case .json: post(.json(Body()))
        case .nestedJSON: post(.json(["a": .array([["app_id": .string(canary)]])]))
        case .form: post(.form(["ssn": canary, "appId": canary]))
        case .multipart: post(.multipart([.field("ssn", canary), .data("app", Data(canary.utf8))]))
        case .text: post(.text("ssn: hunter2 at https://a.test/bothunter2/x"))
        case .markup: post(.data(Data("<ssn>hunter2</ssn>".utf8), type: MediaType("application/xml") ?? .json))
        case .cookieField: call.header(.cookie, "sid=\(canary)")
        case .authority: .get(url: "https://u:\(canary)@a.test/bothunter2/x?appid=hunter2")
        case .refusedPath: .get("/bot\(canary)/\("..")/x")
        default: call
        }
    }

    static func client(
        _ place: Place, _ outcome: Outcome, _ page: EveryTextObserver, _ store: any HTTPCache.Store
    ) async throws -> APIClient {
        let tokens = TokenStore()
        try await tokens.signIn(Tokens(accessToken: canary, refreshToken: canary))
        var pipeline = Pipeline.standard.adding(.caching(store: store))
        pipeline = pipeline.adding(.logging(.body) { page.write($0) })
            .adding(.logging(.body) { page.write($0) }, at: .attemptTimeout)
        let added: (any Interceptor)? =
            switch place {
            case .cookieStore: cookies
            case .basic: BasicInterceptor(user: "ada", password: canary)
            case .digest: DigestInterceptor(user: "ada", password: canary)
            case .keyField: APIKeyInterceptor(canary, in: .header("X-Plain"))
            case .keyQuery: APIKeyInterceptor(canary, in: .query("plain"))
            case .bearer: BearerInterceptor(token: { canary }, principal: { canary })
            case .tokens: TokenInterceptor(tokens)
            case .hook: .onRequest { request, _ in request.headers["X-Device"] = canary }
            case .signature: .signing { request, _ in request.headers["X-Signature"] = canary }
            default: nil
            }
        if let added { pipeline = pipeline.adding(added) }
        pipeline = pipeline.adding(.onError { error, _ in page.write(error: error) })
            .adding(
                .onResponse { response, _ in
                    page.write(response)
                    page.write(response.headers)
                }
            )
            .adding(
                .onRequest(changesPrincipal: false) { request, context in
                    page.write(request)
                    page.write(request.headers)
                    page.write(context)
                })
        let configuration = APIClient.Configuration(
            headers: place == .clientField ? ["X-Device": canary] : [:], observers: [page], fields: rules)
        page.write(configuration)
        page.write(pipeline)
        if let added { page.write(added) }
        let client = APIClient.mock(
            baseURL: place == .basePath ? "https://mock.test/bothunter2" : "https://mock.test", pipeline: pipeline,
            configuration: configuration
        ) {
            $0.onAny { try answer($0, outcome) }
        }
        return place == .clientQuery ? client.with(query: ["appid": canary]) : client
    }

    private static var cookies: CookieInterceptor {
        let store = CookieStore()
        store.insert(
            Cookie(name: "sid", value: canary, domain: "mock.test", sameSite: .lax, expires: nil, created: Date()))
        return CookieInterceptor(store: store)
    }

    @Test("No log, record, store or file holds the secret", arguments: Place.allCases, Outcome.allCases)
    func nowhere(place: Place, outcome: Outcome) async throws {
        let page = EveryTextObserver()
        let store = HTTPCache.MemoryStore()
        let client = try await Self.client(place, outcome, page, store)
        let call = Self.call(place)
        page.write(call)
        page.write(call.query)
        page.write(call.content)
        for _ in 0..<(outcome == .stored ? 2 : 1) {
            do {
                let response = try await client.response(for: call)
                page.write(response.map { _ in true })
                page.write(response.headers)
                response.attempts.forEach(page.write)
                page.write(response.cacheStatus)
            } catch {
                page.write(error: error)
            }
        }
        page.write(client)
        page.write(client.problems)
        do throws(NetworkError) {
            for request in [try client.request(for: call), try await client.preview(call)] {
                page.write(request)
                page.write(request.headers)
                request.headers.forEach(page.write)
                page.write(request.body)
                page.write(request.curlCommand())
            }
        } catch {
            page.write(error: error)
        }
        client.recordedCalls.forEach(page.write)
        for entry in await store.all {
            let copy = try #require(HTTPCache.Entry(encoded: entry.encoded))
            for stored in [entry, copy] {
                page.write(stored)
                page.write(stored.key)
                page.write(stored.variant)
                page.write(stored.headers)
                stored.headers.forEach(page.write)
            }
            page.write(store)
        }
        let lines = page.text.split(separator: "\n").filter { $0.contains(Self.canary) }
        #expect(lines.isEmpty, "\(lines.prefix(5))")
    }
}

extension HTTPCache.MemoryStore {
    /// All entries.
    fileprivate var all: [HTTPCache.Entry] {
        get async {
            let found = Locked<[HTTPCache.Entry]>([])
            _ = await remove(
                .matching { entry in
                    found.withLock { $0.append(entry) }
                    return false
                })
            return found.withLock { $0 }
        }
    }
}

extension Response {
    /// The same with another value.
    fileprivate func map<Other>(_ change: (Value) -> Other) -> Response<Other> {
        var response = HTTPResponse(status: status, headers: headers, metrics: metrics, url: url)
        response.redirects = redirects
        return Response<Other>(change(value), from: response)
    }
}
