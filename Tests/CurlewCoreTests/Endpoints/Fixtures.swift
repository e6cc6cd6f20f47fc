// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct Person: Codable, Sendable, Equatable {
    var id: Int
    var name: String

    static let ann = Person(id: 1, name: "Ann")
    static let annJSON = #"{"id":1,"name":"Ann"}"#
}

struct GetPerson: Endpoint {
    typealias Response = Person
    let id: Int
    var path: RequestPath { "/people/\(id)" }
}

enum PeopleAPI: Route {
    case list
    case one(Int)

    var path: RequestPath {
        switch self {
        case .list: "/people"
        case .one(let id): "/people/\(id)"
        }
    }
}

extension Request {
    static func person(id: Int) -> Request<Person> { .get("/people/\(id)") }
    static var people: Request<[Person]> { .get("/people") }
}

/// A transport that answers by a function and remembers what it was asked.
final class RecordingTransport: Transport {
    private let recorded = Locked<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse) {
        self.answer = answer
    }

    convenience init(_ status: HTTPStatus = .ok, _ text: String = Person.annJSON, type: String = "application/json") {
        self.init { _, _ in .answer(status, text, type: type) }
    }

    var requests: [HTTPRequest] { recorded.withLock { $0 } }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        recorded.withLock { $0.append(request) }
        return try await answer(request, context)
    }
}

extension HTTPResponse {
    static func answer(_ text: String) -> HTTPResponse {
        answer(.ok, text)
    }

    static func answer(_ status: HTTPStatus, _ text: String, type: String = "application/json") -> HTTPResponse {
        HTTPResponse(status: status, headers: [.contentType: type], body: ResponseBody(Data(text.utf8)))
    }
}

extension APIClient {
    /// A client without interceptors at `https://api.example/v1`.
    static func testing(
        _ transport: any Transport, baseURL: BaseURL? = "https://api.example/v1", pipeline: Pipeline = [],
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        APIClient(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }

    /// The same with one response for everything.
    static func answering(
        _ status: HTTPStatus = .ok, _ text: String = Person.annJSON, type: String = "application/json"
    ) -> APIClient {
        testing(RecordingTransport(status, text, type: type))
    }
}

/// The error that `work` throws, or nil.
func failure(_ work: () async throws(NetworkError) -> Void) async -> NetworkError? {
    do throws(NetworkError) {
        try await work()
        return nil
    } catch {
        return error
    }
}

/// Never returns; throws when the task is cancelled.
func waitForCancellation() async throws {
    let clock = ManualClock()
    try await clock.sleep(for: .seconds(1))
}
