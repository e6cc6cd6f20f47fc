// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewObservability
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct APIClientTests {
    let transport = RecordingTransport()
    var client: APIClient { .testing(transport) }

    @Test func derivedClientsAddToTheirsAndLeaveTheFirstAsItIs() async throws {
        let tenant = client.with(headers: ["X-Tenant": "a", "X-Both": "1"]).with(query: ["site": "so"])
            .with(headers: ["X-Both": "2"]).with(query: ["order": "desc"])
        let request = try tenant.request(for: Request<Data>.get("/q", query: ["page": 1]))
        #expect(request.target == "/v1/q?site=so&order=desc&page=1")
        #expect(request.headers["X-Tenant"] == "a")
        #expect(request.headers[values: "X-Both"] == ["2"])
        #expect(try client.request(for: Request<Data>.get("/q")).target == "/v1/q")
    }

    @Test func optionsOfTheClientLieUnderThoseOfTheCall() async throws {
        var options = RequestOptions()
        options.acceptedStatuses = [404]
        options.timeouts = Timeouts(total: .seconds(7))
        let seen = Locked<[Timeouts]>([])
        let client = APIClient.testing(
            ClosureTransport { _, context in
                seen.withLock { $0.append(context.timeouts) }
                return .answer(.notFound, Person.annJSON)
            }
        ).with(options: options)
        #expect(try await client.send(.person(id: 1)) == .ann)
        _ = try await client.send(.person(id: 1).options { $0.timeouts = Timeouts(total: .seconds(8)) })
        #expect(seen.withLock { $0 }.map(\.total) == [.seconds(7), .seconds(8)])
    }

    @Test func aClientForAnotherOriginKeepsNoSecrets() throws {
        let home = client.with(headers: ["X-API-Key": "k"]).with(query: ["key": "k"])
            .adding(.bearer { "token" }).adding(.onRequest { _, _ in })
        let cdn = home.with(baseURL: "https://cdn.example")
        #expect(cdn.pipeline.entries.count == 1)
        let request = try cdn.request(for: Request<Data>.get("/a"))
        #expect(request.urlString == "https://cdn.example/a")
        #expect(request.headers["X-API-Key"] == nil)
        #expect(try cdn.with(headers: ["X-B": "b"]).request(for: Request<Data>.get("/a")).headers["X-B"] == "b")

        let v2 = home.with(baseURL: "https://api.example/v2")
        #expect(v2.pipeline.entries.count == 2)
        #expect(try v2.request(for: Request<Data>.get("/a")).urlString == "https://api.example/v2/a?key=k")
        #expect(try v2.request(for: Request<Data>.get("/a")).headers["X-API-Key"] == "k")
    }

    @Test func interceptorsAreAddedAtTheirPlacement() async throws {
        let order = Locked<[String]>([])
        let client =
            client
            .adding(.onRequest(at: .signing) { _, _ in order.withLock { $0.append("signing") } })
            .adding(
                .onRequest { request, _ in
                    order.withLock { $0.append("custom") }
                    request.headers["X-A"] = "1"
                })
        _ = try await client.send(.person(id: 1))
        #expect(order.withLock { $0 } == ["custom", "signing"])
        #expect(transport.requests.first?.headers["X-A"] == "1")
        #expect(try client.request(for: .person(id: 1)).headers["X-A"] == nil)
    }

    @Test func aPipelineThatCannotWorkIsListedAndThrownBySend() async throws {
        let client = APIClient.testing(transport, pipeline: [.bearer { "token" }, .logging()])
        #expect(!client.problems.isEmpty)
        #expect(client.description.contains("problem"))
        let error = await client.failure(.person(id: 1))
        #expect(error?.reason == .configuration)
        #expect(transport.requests.isEmpty)
    }

    @MainActor @Test func workIsDoneOffTheMainActor() async throws {
        struct Spy: Endpoint {
            typealias Response = UInt
            var path: RequestPath { "/spy" }
            func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> UInt { currentThread() }
        }
        let threads = Locked<[UInt]>([])
        let client = APIClient.testing(
            ClosureTransport { _, _ in
                threads.withLock { $0.append(currentThread()) }
                return HTTPResponse()
            })
        let decoding = try await client.send(Spy())
        #expect(decoding != currentThread())
        #expect(threads.withLock { $0 }.contains(currentThread()) == false)
    }

    @Test func concurrentCallsDoNotMixTheirResponses() async throws {
        let client = APIClient.testing(
            ClosureTransport { request, _ in
                await Task.yield()
                let id = request.target.split(separator: "/").last ?? "0"
                return .answer(#"{"id":\#(id),"name":"x"}"#)
            })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in 0..<200 { group.addTask { try await client.send(.person(id: id)).id == id } }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test(
        "A client for another origin keeps no credential, wherever its interceptor was put",
        arguments: Placement.allCases)
    func foreignCredentials(placement: Placement) async throws {
        let transport = RecordingTransport()
        let client = APIClient(
            baseURL: "https://a.test",
            pipeline: Pipeline.standard.adding(.bearer { "secret" }, at: placement)
                .adding(.onRequest { request, _ in request.headers[.xRequestID] = "1" }, at: placement),
            transport: transport)
        #expect(
            client.with(baseURL: "https://b.test").pipeline.entries.count == client.pipeline.entries.count
                - (placement == .authentication || placement == .signing ? 2 : 1))
        #expect(
            client.with(baseURL: "https://a.test/v2").pipeline.entries.count == client.pipeline.entries.count)
        _ = try? await client.with(baseURL: "https://b.test").send(Request<Void>.get("/x"))
        for request in transport.requests { #expect(!request.headers.contains(.authorization)) }
    }
}

/// Distinguishes threads. The main actor always runs on the same one.
private func currentThread() -> UInt {
    #if canImport(Glibc)
    UInt(pthread_self())
    #else
    UInt(bitPattern: pthread_self())
    #endif
}
