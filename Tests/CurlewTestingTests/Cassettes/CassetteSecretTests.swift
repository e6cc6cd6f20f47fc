// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewTesting

/// Sixty fields by which real services know their users, against every place of a recorded exchange.
@Suite(.timeLimit(.minutes(5)))
struct CassetteSecretTests {
    static let canary = "hunter2"

    @Test(
        "No secret enters the file from a field, a cookie, a query, a form, JSON or an event",
        arguments: IdentityWay.names)
    func matrix(name: String) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString).har")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (field, member, secret) = (HTTPField.Name(name), "x-\(name)-token", Self.canary)
        let json =
            #"{"a": {"\#(member)": "\#(secret)"}, "list": [{"\#(member)": 1}], "text": "\#(member)=\#(secret)&b=1"}"#
        let mock = MockTransport { mock in
            mock.onAny { call in
                let headers: HTTPHeaders = [
                    field: secret, .location: "/next?\(member)=\(secret)#\(member)=\(secret)",
                    .setCookie: "\(member)=\(secret); Path=/?\(member)=\(secret); Other=\(secret)",
                    .link: "<https://a.test/?\(member)=\(secret)>; rel=next",
                ]
                switch call.path {
                case "/form": return .data(Data("\(member)=\(secret)&b=1".utf8), type: .form, headers: headers)
                case "/events":
                    return .pieces(
                        ["data: {\"\(member)\": \"hun", "ter2\"}\n\n"], type: .eventStream, headers: headers)
                case "/text":
                    return .text("\(member): \(secret)\nhttps://a.test/?\(member)=\(secret)", headers: headers)
                case "/fail": throw NetworkError(.unreachable, detail: "no https://a.test/?\(member)=\(secret)")
                default: return .json(text: json, headers: headers)
                }
            }
        }
        var configuration = APIClient.Configuration(headers: [field: secret])
        configuration.fields.secret.insert("X-Declared")
        configuration.fields.secretMembers.insert("declared")
        configuration.fields.secretPaths.insert("/bot*")
        func run(_ cassette: Cassette) async throws {
            let client = APIClient.testing(cassette, baseURL: "https://api.test", configuration: configuration)
            for path in ["/json", "/form", "/events", "/text", "/fail", "/bot\(secret)/x"] {
                var call = Request<HTTPResponse>(
                    .post, RequestPath(path), query: [member: secret, "declared": secret],
                    body: path == "/form"
                        ? .data(Data("\(member)=\(secret)".utf8), type: .form)
                        : .json(["\(member)": "\(secret)", "declared": "\(secret)"]))
                call = call.header(.cookie, "\(member)=\(secret)").header("x-declared", secret)
                _ = try? await client.withResponse(to: call) { try await $0.data() }
            }
        }
        let cassette = try Cassette(path, mode: .recordNew, recording: mock)
        try await run(cassette)
        try await cassette.finish()
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        #expect(!text.contains(secret), "\(text.split(separator: "\n").filter { $0.contains(secret) })")
        #expect(!text.contains("ter2") && text.contains("REDACTED"))
        #expect(cassette.count == 6)

        let replay = try Cassette(path, mode: .replay)
        try await run(replay)
        try replay.verify()
        // What no longer matches is reported without the secret.
        try await run(replay)
        #expect(replay.problems.count == 6 && !replay.problems.joined().contains(secret))
    }

    @Test("No value under any of 500 names enters the file", arguments: SecretNames.groups)
    func names(group: [String]) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString).har")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let mock = MockTransport { mock in mock.onAny { try SecretNames.answer(group, to: $0.request) } }
        let cassette = try Cassette(path, mode: .recordNew, recording: mock)
        let client = APIClient.testing(cassette, baseURL: "https://api.test", pipeline: [.redirects()])
        _ = await SecretNames.send(group, by: client)
        try await cassette.finish()
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        #expect(SecretNames.leaks(in: text) == [] && text.contains("/refused") && text.contains("see /cb?"))
        #expect(cassette.problems.isEmpty && cassette.count == 4)
    }
}
