// SPDX-License-Identifier: MIT

import ConformanceCases
import TestServers
import Testing

@testable import CurlewCore
@testable import CurlewRecording

/// Sixty fields by which real services identify users, in every output of a recorder and in its memory.
@Suite(.timeLimit(.minutes(2)))
struct RecorderSecretTests {
    static let canary = "hunter2"

    /// How the field comes to a call, and how the recorder learns that it is secret.
    enum Source: CaseIterable {
        case call, client, hook, declared
    }

    /// All text that a recorder returns, and all strings that it holds.
    private func text(of recorder: FlightRecorder) throws -> String {
        var parts = [String(decoding: try recorder.har().data(), as: UTF8.self), recorder.htmlReport()]
        parts += recorder.curlCommands()
        for record in recorder.records {
            parts.append("\(record)\n\(record.entries)\n\(record.outcome)")
            parts += strings(in: record.exchanges) + strings(in: record.decisions)
            parts += strings(in: record.request as Any) + strings(in: record.response as Any) + [record.target]
        }
        return parts.joined(separator: "\n")
    }

    /// All strings in the memory of a value, regardless of its description. Headers hide values from mirrors, so their
    /// fields are listed.
    private func strings(in value: Any) -> [String] {
        switch value {
        case let text as String: return [text]
        case let headers as HTTPHeaders: return headers.flatMap { [$0.name.text, $0.value] }
        case let body as RecordedBodies:
            return [body.content.request?.text, body.content.response?.text].compactMap(\.self)
        default: return Mirror(reflecting: value).children.flatMap { strings(in: $0.value) }
        }
    }

    @Test("The recorder's redaction covers errors, reason phrases and targets, also before sending")
    func ownRedaction() async throws {
        let rules = Redaction.standard.adding(Redaction.Rules(secretMembers: ["color"]))
        let recorder = FlightRecorder(redaction: rules)
        let transport = MockTransport {
            $0.on(.get, "/phrase") { _ in HTTPResponse(status: .ok, reasonPhrase: "Fine color=\(Self.canary)") }
            $0.on(.get, "/broken") { _ in
                throw NetworkError(.connectionLost(.requestNotSent), detail: "Lost color=\(Self.canary).")
            }
        }
        let client = APIClient.testing(transport, baseURL: "https://a.test", pipeline: [.recording(recorder)])
        try await client.send(.get("/phrase", query: ["color": Self.canary]))
        await #expect(throws: NetworkError.self) { try await client.send(.get("/broken")) }
        let text = try text(of: recorder)
        #expect(text.contains("Fine color=") && text.contains("Lost color=") && !text.contains(Self.canary))
    }

    @Test("The error of a call within a call hides the declared secrets, as a failed revalidation")
    func ownCalls() throws {
        let recorder = FlightRecorder()
        let client = ExchangeContext.Client(
            origin: nil, bounds: CallBounds(timeouts: .standard, limits: .standard), time: SystemTime(),
            fields: Redaction.Rules(secretMembers: ["color"]))
        let context = ExchangeContext(
            ExchangeContext.Call(
                id: 1, routeName: "", options: RequestOptions(),
                events: .adding([RecordingInterceptor(recorder: recorder)], before: nil), endpoint: nil, codecs: .json,
                client: client))
        let request = try HTTPRequest(url: "https://a.test/")
        context.begin(request)
        context.conclude(request, with: NetworkError(.badResponse, detail: "Odd color=\(Self.canary)."), after: .zero)
        let text = try text(of: recorder)
        #expect(text.contains("Odd color=") && !text.contains(Self.canary))
    }

    private func client(
        _ source: Source, _ name: String, _ recorder: FlightRecorder, _ configure: (MockTransport) -> Void
    ) -> APIClient {
        let field = HTTPField.Name(name)
        var pipeline = Pipeline.standard.adding(.recording(recorder))
        if source == .hook {
            pipeline = pipeline.adding(.onRequest { request, _ in request.headers[field] = Self.canary })
        }
        let fields =
            source == .declared
            ? Redaction.Rules(secret: [field, "X-Plain"], secretMembers: ["plain"]) : Redaction.Rules()
        let configuration = APIClient.Configuration(
            headers: source == .client ? [field: Self.canary] : [:], fields: fields)
        return .mock(pipeline: pipeline, configuration: configuration, configure)
    }

    @Test("No output and no memory holds the secret", arguments: IdentityWay.names, Source.allCases)
    func outputs(name: String, source: Source) async throws {
        let canary = Self.canary
        let recorder = FlightRecorder(
            bodies: .upTo(), onFailure: .call { record in #expect(!"\(record.entries)".contains(canary)) })
        let client = client(source, name, recorder) {
            let headers: HTTPHeaders = [
                HTTPField.Name(name): canary, .location: "/end?token=\(canary)", .setCookie: "sid=\(canary)",
            ]
            $0.on(
                .post, "/me",
                HTTPResponse(
                    status: .forbidden, headers: headers.merging([.contentType: "application/json"], replacing: true),
                    body: ResponseBody(Data(#"{"x-\#(name)-token":"\#(canary)"}"#.utf8))))
            $0.on(.get, "/me", .status(302, headers: headers))
            $0.on(.get, "/end", .text("done"))
            $0.fail(
                .get, "/lost",
                with: NetworkError(.unreachable, detail: "lost https://u:\(canary)@a.test?token=\(canary)"))
        }
        var post: Request<String> = .post("/me", query: ["api_key": canary], json: ["password": canary])
        var get: Request<String> = .get("/me", query: ["sig": canary])
        if source == .call || source == .declared {
            post = post.header(HTTPField.Name(name), canary)
            get = get.header(HTTPField.Name(name), canary)
        }
        if source == .declared {
            post = post.header("X-Plain", canary)
            get = get.header("X-Plain", canary)
        }
        await #expect(throws: NetworkError.self) { try await client.send(post) }
        #expect(try await client.send(get) == "done")
        await #expect(throws: NetworkError.self) { try await client.send(.get("/lost", query: ["token": canary])) }
        let text = try text(of: recorder)
        #expect(!text.contains(canary))
        #expect(
            text.contains("/me") && text.contains("REDACTED") && text.contains("/end"), "the outputs have the calls")
        #expect(recorder.records.flatMap(\.entries).count == 6, "the lost request was sent three times")
    }

    @Test("Declared paths, members and endings are hidden; a recorder keeps two clients apart")
    func declarations() async throws {
        let recorder = FlightRecorder(bodies: .upTo())
        let rules = Redaction.Rules(secretMembers: ["appid"], secretPaths: ["/bot*"])
        let strict = APIClient.mock(pipeline: [.recording(recorder)], configuration: .init(fields: rules)) {
            $0.onAny { _ in
                .json(text: #"{"appid":"hunter2"}"#, headers: [.location: "https://a.test/bothunter2/next"])
            }
        }
        let open = APIClient.mock(pipeline: [.recording(recorder)]) {
            $0.onAny { _ in .json(text: #"{"appid":"shown"}"#) }
        }
        for _ in 0..<2 {
            try await strict.send(.get("/bothunter2/send", query: ["appid": "hunter2"]))
            try await open.send(.get("/botshown/send"))
        }
        let text = try text(of: recorder)
        #expect(!text.contains("hunter2"))
        #expect(text.contains("/botshown/send") && text.contains(#"{"appid":"shown"}"#))
        #expect(recorder.records.last { $0.entries[0].request.url.contains("REDACTED") } != nil)
    }

    @Test(
        "No HAR, report, command or record shows a value under any of 500 names, in any place",
        arguments: SecretNames.groups)
    func names(group: [String]) async throws {
        let (strict, open) = (FlightRecorder(bodies: .upTo(1 << 20)), FlightRecorder(bodies: .upTo(), redaction: .none))
        let pipeline = Pipeline.standard.adding(.recording(strict)).adding(.recording(open))
        let client = APIClient.mock(pipeline: pipeline, configuration: .init(time: ManualClock.skippingWaits)) {
            $0.onAny { try SecretNames.answer(group, to: $0.request) }
        }
        _ = await SecretNames.send(group, by: client)
        let text = try text(of: strict)
        #expect(SecretNames.leaks(in: text) == [])
        #expect(text.contains("/refused") && text.contains("see /cb?") && text.contains("X-Original-URL"))
        // What is redacted afterwards, as `curlew har redact` does.
        #expect(open.htmlReport().contains(Self.canary))
        let later = open.har().redacted()
        let texts = try [String(decoding: later.data(), as: UTF8.self), HTMLReport(later, title: "Later").text]
        for text in texts {
            #expect(SecretNames.leaks(in: text) == [])
            #expect(text.contains("/refused") && text.contains("see /cb?") && text.contains("X-Original-URL"))
        }
    }

    @Test("Recorders of one client keep bodies of their own, in either order", arguments: [false, true])
    func severalRecorders(isStrictFirst: Bool) async throws {
        let strict = FlightRecorder(bodies: .upTo(20))
        let (open, heads) = (FlightRecorder(bodies: .upTo(), redaction: .none), FlightRecorder())
        let recorders = isStrictFirst ? [strict, open, heads] : [heads, open, strict]
        let client = APIClient.mock(pipeline: recorders.reduce(Pipeline.standard) { $0.adding(.recording($1)) }) {
            $0.onAny { _ in .json(text: #"{"password":"\#(Self.canary)","padding":"xxxxxxxxxxxxxxxxxxxxxx"}"#) }
        }
        try await client.send(.post("/me", json: ["password": Self.canary]))
        let bodies = try [strict, open, heads].map { recorder in
            let entry = try #require(recorder.records.first?.entries.first)
            return [entry.request.postData?.text, entry.response.content.text]
        }
        #expect(bodies[0].allSatisfy { $0?.contains("REDACTED") == true && $0?.contains("xxx") == false })
        #expect(bodies[1].allSatisfy { $0?.contains(Self.canary) == true })
        #expect(bodies[1][1]?.contains("xxx") == true)
        #expect(bodies[2] == [nil, nil])
        #expect(try !text(of: strict).contains(Self.canary))
    }

    @Test("A redaction that hides nothing records everything")
    func none() async throws {
        let recorder = FlightRecorder(redaction: .none)
        let client = APIClient.mock(pipeline: [.recording(recorder)]) { $0.onAny { _ in .status(204) } }
        try await client.send(.get("/", headers: [.authorization: "Bearer hunter2"]))
        #expect(try text(of: recorder).contains("hunter2"))
    }
}
