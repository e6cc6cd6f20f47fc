// SPDX-License-Identifier: MIT

/// A message in, a message out: the pipeline and the transport, without types on top.
///
/// This is the engine of `APIClient`, usable alone where requests are made elsewhere (proxies, generated clients).
/// Copies share the transport and whatever state the interceptors have.
public struct Exchanger: Sendable {
    /// The interceptors in force.
    public let pipeline: Pipeline
    /// The engine.
    public var transport: any Transport { chain.transport }
    /// What cannot work; `exchange` throws it.
    public let problems: [String]
    let chain: Chain
    /// What the configuration and the interceptors declare.
    let fields: FieldRules
    let secrets: DeclaredSecrets
    private let attemptTimeout: Duration?
    /// Those of the client.
    private let calls: CallGate?

    /// An engine over `transport`. Never fails: what cannot work is listed in `problems`.
    public init(pipeline: Pipeline, transport: any Transport, setup: PipelineSetup = PipelineSetup()) {
        self.init(
            pipeline: pipeline, setup: setup, chain: Chain(pipeline.interceptors, transport))
    }

    /// An engine with the chain of another one that has the same pipeline and transport.
    init(pipeline: Pipeline, setup: PipelineSetup, chain: Chain, calls: CallGate? = nil) {
        self.pipeline = pipeline
        self.calls = calls
        self.chain = chain
        problems = pipeline.problems(in: setup)
        let declared = pipeline.declared(in: setup)
        attemptTimeout = declared.attemptTimeout
        fields = declared.fields
        secrets = DeclaredSecrets(declared.fields)
    }

    /// Sends `request` through the pipeline.
    ///
    /// Returns when the head of the answer is there (and small bodies with it), whatever its status. Throws
    /// `NetworkError`: `.configuration` when the pipeline has problems, else what went wrong on the way.
    public func exchange(
        _ request: HTTPRequest, in context: ExchangeContext
    ) async throws(NetworkError) -> HTTPResponse {
        var request = request
        if !secrets.isEmpty { request.secrets = secrets }
        return try await exchange(request, in: context) { $0 }
    }

    /// The same, with what the caller makes of the answer as a part of the call: observers hear of a success only after
    /// `finish`, and its errors are the call's errors. The request knows `secrets` already.
    package func exchange<Value>(
        _ request: HTTPRequest, in context: ExchangeContext, finish: (HTTPResponse) async throws -> Value
    ) async throws(NetworkError) -> Value {
        let start = context.isObserved ? context.time.now : MonotonicInstant(nanoseconds: 0)
        context.record(.began(request))
        do {
            guard problems.isEmpty else {
                throw NetworkError(.configuration, detail: problems.joined(separator: " "))
            }
            try Task.checkCancellation()
            try calls?.enter()
            defer { calls?.leave() }
            var response = try await Next(context: context, chain: chain)(request)
            // A cache, a mock or a hook may have made it.
            secrets.declare(in: &response.headers)
            let value = try await finish(response)
            if context.isObserved {
                context.conclude(with: .succeeded(response, after: start.duration(to: context.time.now)))
                await context.eventsTold()
            }
            return value
        } catch {
            var failure = NetworkError(error)
            if failure.request == nil { failure.request = RequestLine(request) }
            if failure.routeName == nil, !context.routeName.isEmpty { failure.routeName = context.routeName }
            if case .timedOut = failure.reason { failure.detail += bounds(of: context) }
            if failure.codecs == nil, failure.response != nil { failure.codecs = context.codecs }
            failure = failure.withholding(secrets)
            if context.isObserved {
                context.conclude(with: .failed(failure, after: start.duration(to: context.time.now)))
                await context.eventsTold()
            }
            throw failure
        }
    }

    /// What bounded a call that ran out of time.
    private func bounds(of context: ExchangeContext) -> String {
        let spent = context.start.duration(to: context.time.now).brief
        let total = context.timeouts.total.map { "may take \($0.brief)" } ?? "has no limit"
        let attempt = (context.timeouts.attempt ?? attemptTimeout).flatMap { $0 < Timeouts.unlimited ? $0 : nil }
        let each = attempt.map { ", and each attempt may wait \($0.brief) for its response" } ?? ""
        return " The call took \(spent); it \(total)\(each)."
    }
}

extension Exchanger: CustomReflectable {
    /// Shows the pipeline and the transport by their descriptions, to debuggers and `dump` too.
    public var customMirror: Mirror {
        Mirror(self, children: ["pipeline": "\(pipeline)", "transport": transport.label])
    }
}
