// SPDX-License-Identifier: MIT

package struct Person: Codable, Sendable, Equatable {
    package var id: Int
    package var name: String

    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }

    package static let ann = Person(id: 1, name: "Ann")
    package static let annJSON = #"{"id":1,"name":"Ann"}"#
}

package struct GetPerson: Endpoint {
    package typealias Response = Person
    package let id: Int
    package var path: RequestPath { "/people/\(id)" }

    package init(id: Int) {
        self.id = id
    }
}

package enum PeopleAPI: Route {
    case list
    case one(Int)

    package var path: RequestPath {
        switch self {
        case .list: "/people"
        case .one(let id): "/people/\(id)"
        }
    }
}

extension Request {
    package static func person(id: Int) -> Request<Person> { .get("/people/\(id)") }
    package static var people: Request<[Person]> { .get("/people") }
}

/// A transport that answers by a function and remembers what it was asked.
package final class RecordingTransport: Transport {
    private let recorded = Locked<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse

    package init(_ answer: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse) {
        self.answer = answer
    }

    package convenience init(
        _ status: HTTPStatus = .ok, _ text: String = Person.annJSON, type: String = "application/json"
    ) {
        self.init { _, _ in .answer(status, text, type: type) }
    }

    package var requests: [HTTPRequest] { recorded.withLock { $0 } }

    package func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    package func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        recorded.withLock { $0.append(request) }
        return try await answer(request, context)
    }
}

extension HTTPResponse {
    package static func answer(_ text: String) -> HTTPResponse {
        answer(.ok, text)
    }

    package static func answer(_ status: HTTPStatus, _ text: String, type: String = "application/json") -> HTTPResponse
    {
        HTTPResponse(status: status, headers: [.contentType: type], body: ResponseBody(Data(text.utf8)))
    }
}

extension APIClient {
    /// The client of a test: without interceptors at `https://api.example/v1`, with what the test chooses.
    package static func testing(
        _ transport: any Transport, baseURL: BaseURL? = "https://api.example/v1", pipeline: Pipeline = [],
        headers: HTTPHeaders? = nil, timeouts: Timeouts? = nil, limits: Limits? = nil,
        observers: [any RequestObserver]? = nil, time: (any TimeSource)? = nil,
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        var configuration = configuration
        if let headers { configuration.headers = headers }
        if let timeouts { configuration.timeouts = timeouts }
        if let limits { configuration.limits = limits }
        if let observers { configuration.observers = observers }
        if let time { configuration.time = time }
        return APIClient(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }

    /// The same with one response for everything.
    package static func answering(
        _ status: HTTPStatus = .ok, _ text: String = Person.annJSON, type: String = "application/json"
    ) -> APIClient {
        testing(RecordingTransport(status, text, type: type))
    }
}

/// The error that `work` throws, or nil.
package func failure(_ work: () async throws(NetworkError) -> Void) async -> NetworkError? {
    do throws(NetworkError) {
        try await work()
        return nil
    } catch {
        return error
    }
}

/// The reason of the error that `work` throws; nil if it throws none, or one of another type.
package func failureReason<Value>(_ work: () async throws -> Value) async -> NetworkError.Reason? {
    do {
        _ = try await work()
        return nil
    } catch {
        return (error as? NetworkError)?.reason
    }
}

/// The same of work that does not wait.
package func thrownReason<Value>(_ work: () throws -> Value) -> NetworkError.Reason? {
    if case .failure(let error as NetworkError) = Result(catching: work) { error.reason } else { nil }
}

extension APIClient {
    /// The error of a call, or nil.
    package func failure<Value>(_ request: Request<Value>) async -> NetworkError? {
        await TestFixtures.failure { () async throws(NetworkError) in _ = try await send(request) }
    }

    package func failure<Call: Endpoint>(_ endpoint: Call) async -> NetworkError? {
        await TestFixtures.failure { () async throws(NetworkError) in _ = try await send(endpoint) }
    }
}

/// Never returns; throws when the task is cancelled.
package func waitForCancellation() async throws {
    let clock = ManualClock()
    try await clock.sleep(for: .seconds(1))
}

extension Locked<Int> {
    /// Adds one, and returns the sum.
    package func next() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}
