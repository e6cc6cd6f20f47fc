// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore
@testable import CurlewObservability

@Suite(.timeLimit(.minutes(1)))
struct PipelineTests {
    /// An interceptor at a placement that writes its name into the request.
    struct Mark: Interceptor, CustomStringConvertible {
        let traits: InterceptorTraits
        var description: String

        init(_ placement: Placement, _ name: String? = nil) {
            traits = InterceptorTraits(placement: placement)
            description = name ?? "\(placement)"
        }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var request = request
            request.headers.append("Passed", description)
            return try await next(request)
        }
    }

    @Test("Adding inserts each interceptor at its placement, whatever the order of adding")
    func placement() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let expected = Placement.allCases.map { "\($0)" }.joined(separator: " → ") + " → transport"
        for _ in 0..<100 {
            let pipeline = Placement.allCases.shuffled(using: &random).reduce(Pipeline.empty) { $0.adding(Mark($1)) }
            #expect(pipeline.description == expected, "seed \(seed)")
            #expect(pipeline.problems().isEmpty, "seed \(seed)")
        }
    }

    @Test("Of one placement, those added later are further in")
    func sameplace() {
        let pipeline = Pipeline.empty.adding(Mark(.retry)).adding(Mark(.custom, "a")).adding(Mark(.custom, "b"))
        #expect(pipeline.description == "retry → a → b → transport")
        #expect(pipeline.adding(Mark(.logging)).description == "logging → retry → a → b → transport")
    }

    @Test("A literal keeps its order, also one that cannot work; that is a problem which names both")
    func literal() {
        let pipeline: Pipeline = [Mark(.authentication), Mark(.custom, "own"), Mark(.retry), Mark(.logging)]
        #expect(pipeline.description == "authentication → own → retry → logging → transport")
        let problems = pipeline.problems()
        #expect(problems.count == 2)
        #expect(problems.first?.contains("authentication is left of retry") == true)
        #expect(problems.last?.contains("retry is left of logging") == true)
    }

    @Test("Custom interceptors may stand anywhere without being a problem")
    func custom() {
        let own = Mark(.custom)
        #expect(Pipeline([own, Mark(.logging), own, Mark(.retry), own]).problems().isEmpty)
    }

    @Test("A placement can be emptied")
    func removing() {
        let pipeline: Pipeline = [Mark(.logging), Mark(.retry), Mark(.authentication)]
        #expect(pipeline.removing(.retry).description == "logging → authentication → transport")
    }

    @Test("Interceptors are called from the first to the last, and see what those before them changed")
    func order() async throws {
        let pipeline: Pipeline = [Mark(.custom, "a"), Mark(.custom, "b"), Mark(.custom, "c")]
        let transport = ClosureTransport { request, _ in HTTPResponse(headers: request.headers) }
        let exchanger = Pipeline.Runner(pipeline: pipeline, transport: transport)
        let response = try await exchanger.exchange(HTTPRequest(url: "https://a.test/"), in: ExchangeContext())
        #expect(response.headers[values: "Passed"] == ["a", "b", "c"])
    }

    @Test("A problem that an interceptor names is a problem of the pipeline")
    func objection() {
        struct Picky: Interceptor {
            var traits: InterceptorTraits {
                var traits = InterceptorTraits()
                traits.problem = { $0.clientOrigin == nil ? "No origin." : nil }
                return traits
            }
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        let pipeline: Pipeline = [Picky()]
        #expect(pipeline.problems() == ["No origin."])
        let origin = Origin(scheme: "https", host: "a.test")
        #expect(pipeline.problems(in: Pipeline.Environment(clientOrigin: origin)).isEmpty)
    }

    @Test("An interceptor is shown by its type's name if it has no other")
    func labels() {
        struct TenantInterceptor: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        let pipeline: Pipeline = [TenantInterceptor(), .onRequest { _, _ in }, .bearer { nil }, .logging(.headers)]
        #expect(pipeline.description == "Tenant → onRequest → Bearer → Logging(headers) → transport")
    }

    @Test("The standard pipeline has no problems, with or without a base URL")
    func standard() {
        #expect(Pipeline.standard.problems().isEmpty)
        let origin = Origin(scheme: "https", host: "a.test")
        #expect(Pipeline.standard.problems(in: Pipeline.Environment(clientOrigin: origin)).isEmpty)
    }

    @Test("Replacing inserts an interceptor instead of those at its placement, or at an empty one")
    func replacing() {
        let pipeline: Pipeline = [Mark(.logging), Mark(.retry, "a"), Mark(.retry, "b"), Mark(.custom)]
        #expect(pipeline.replacing(Mark(.retry, "c")).description == "logging → c → custom → transport")
        #expect(pipeline.replacing(Mark(.signing)).description == "logging → a → b → custom → signing → transport")
    }

    @Test("Two retries are a problem, and so are two budgets and a policy without attempts")
    func retries() {
        let twice = Pipeline([.retry(budget: RetryBudget()), .retry(.attempts(5), budget: RetryBudget())])
        #expect(twice.problems().count == 2)
        #expect(twice.problems().first?.contains("replacing(_:)") == true)
        #expect(twice.problems().last?.contains("the same RetryBudget") == true)
        let budget = RetryBudget()
        #expect(Pipeline([.retry(budget: budget), .retry(budget: budget)]).problems().count == 1)
        #expect(Pipeline.standard.replacing(.retry(.attempts(5))).problems().isEmpty)
        #expect(Pipeline([.retry(.attempts(0))]).problems().count == 1)
    }

    @Test("Each standard pipeline has a budget of its own, and clients derived from one share it")
    func budgets() throws {
        let (one, other) = (Pipeline.standard, Pipeline.standard)
        #expect(one.retryBudget != nil && one.retryBudget !== other.retryBudget)
        let client = APIClient.testing(RecordingTransport(), pipeline: one)
        #expect(client.with(headers: ["X": "1"]).pipeline.retryBudget === one.retryBudget)
    }
}
