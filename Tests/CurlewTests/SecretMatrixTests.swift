// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewObservability
@testable import CurlewRecording
@testable import CurlewResilience

/// Sixty fields by which real services know their users, against every place where a value could show.
@Suite(.timeLimit(.minutes(2)))
struct SecretMatrixTests {
    static let canary = "hunter2"

    /// Keeps what is written.
    final class Page: RequestObserver {
        private let lines = Locked<[String]>([])

        var text: String { lines.withLock { $0.joined(separator: "\n") } }

        func write(_ line: String) { lines.withLock { $0.append(line) } }

        /// Prints all that an observer gets, as people do.
        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            switch event {
            case .began(let request), .sent(let request):
                write("\(request)\n\(request.headers)\n\(request.headers.map { "\($0)" })\n\(request.curlCommand())")
            case .answered(let response): write("\(response.headers)")
            case .succeeded(let response, _): write("\(response.headers)\n\(response.redirects)")
            case .feature(let event as RedirectPolicy.Event):
                if case .followed(let redirect) = event { write("\(redirect)") }
            case .failed(let error, _), .attemptFailed(let error): write("\(error)")
            default: break
            }
        }
    }

    /// How the field comes to a call.
    enum Source: CaseIterable {
        case call, client, hook
    }

    static func client(
        _ source: Source, _ name: String, _ page: Page, _ level: LogEntry.Level,
        _ configure: (MockTransport) -> Void
    ) -> APIClient {
        let field = HTTPField.Name(name)
        var pipeline = Pipeline.standard.adding(.logging(level) { page.write("\($0)") })
            .adding(.logging(level) { page.write("\($0)") }, at: .attemptTimeout)
        if source == .hook { pipeline = pipeline.adding(.onRequest { request, _ in request.headers[field] = canary }) }
        let configuration = APIClient.Configuration(
            headers: source == .client ? [field: canary] : [:], observers: [page])
        return .mock(pipeline: pipeline, configuration: configuration, configure)
    }

    static func call(_ source: Source, _ name: String) -> Request<String> {
        source == .call ? .get("/me").header(HTTPField.Name(name), canary) : .get("/me")
    }

    @Test(
        "No log at any level, description, preview, command or error shows the value",
        arguments: IdentityWay.names, Source.allCases)
    func texts(name: String, source: Source) async throws {
        let page = Page()
        for level in LogEntry.Level.allCases {
            let client = Self.client(source, name, page, level) {
                $0.on(
                    .get, "/me",
                    HTTPResponse(
                        status: .forbidden,
                        headers: [HTTPField.Name(name): Self.canary, .location: "/?token=\(Self.canary)"],
                        body: ResponseBody(Data(#"{"x-\#(name)-token":"\#(Self.canary)"}"#.utf8))))
            }
            let error = await #expect(throws: NetworkError.self) { try await client.send(Self.call(source, name)) }
            page.write("\(error.map { "\($0)" } ?? "")\n\(client)")
            let preview = try await client.preview(Self.call(source, name))
            #expect(preview.headers[HTTPField.Name(name)] == Self.canary)
            page.write("\(preview)\n\(preview.headers)\n\(preview.headers.map { "\($0)" })")
            page.write("\(preview.headers.map(\.description))\n\(preview.curlCommand())")
        }
        #expect(!page.text.contains(Self.canary))
        #expect(page.text.contains("mock.test/me"), "the page holds what was written")
    }

    @Test("A redirect to another origin is sent without the secret", arguments: IdentityWay.names, Source.allCases)
    func redirect(name: String, source: Source) async throws {
        let page = Page()
        let client = Self.client(source, name, page, .body) {
            $0.on(.get, "/me", .status(302, headers: [.location: "https://other.test/end?token=\(Self.canary)"]))
            $0.on(.get, "/end", .text("done"))
        }
        #expect(try await client.send(Self.call(source, name)) == "done")
        #expect(client.recordedCalls.count == 2)
        #expect(client.recordedCalls.last?.request.headers[HTTPField.Name(name)] == nil)
        #expect(!page.text.contains(Self.canary))
    }

    @Test("No key of a cache holds the secret, not even where the response varies by it", arguments: IdentityWay.names)
    func cacheKeys(name: String) throws {
        let field = HTTPField.Name(name)
        let request: HTTPHeaders = [field: Self.canary]
        let variant = CacheVariant.text(for: request, [.vary: name])
        #expect(variant?.contains(Self.canary) == false)
        let next = Next { _, _ in .status(204) }
        let principal = next.principal(of: try HTTPRequest(url: "https://a.test/", headers: request))
        #expect(!"\(principal)".contains(Self.canary) && principal != .anonymous)
    }

    @Test("No output shows a value under any of 500 names, in any place", arguments: SecretNames.groups)
    func names(group: [String]) async throws {
        let page = EveryTextObserver()
        let metrics = MetricsRegistry()
        // The level of bodies logs what all others do.
        let store = HTTPCache.MemoryStore()
        let pipeline = Pipeline.standard.adding(.logging(.body) { page.write($0) }).adding(.caching(store: store))
            .adding(.logging(.body) { page.write($0) }, at: .attemptTimeout)
        let configuration = APIClient.Configuration(observers: [page, metrics], time: ManualClock.skippingWaits)
        let client = APIClient.mock(pipeline: pipeline, configuration: configuration) {
            $0.onAny { try SecretNames.answer(group, to: $0.request) }
        }
        for error in await SecretNames.send(group, by: client) { page.write(error: error) }
        let cached = try? await client.response(for: SecretNames.call(group, isForm: false, to: "/end"))
        page.write(cached?.cacheStatus as Any)
        page.write(client.problems)
        page.write(try await client.preview(SecretNames.call(group, isForm: true)).curlCommand())
        _ = await store.remove(
            .matching {
                page.write($0); return false
            })
        page.write(metrics.snapshot())
        page.write(metrics.snapshot().prometheusText())
        #expect(SecretNames.leaks(in: page.text) == [])
        #expect(page.text.contains("/refused") && page.text.contains("see /cb?"))
    }
}
