// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Pipeline {
    /// Sends requests through a pipeline and a transport, without typed calls.
    ///
    /// `APIClient` is built on it. Use it directly where requests are created elsewhere, as in proxies and generated
    /// clients. Copies share the transport and the state of the interceptors.
    public struct Runner: Sendable {
        let pipeline: Pipeline
        var transport: any Transport { chain.transport }
        /// The configuration errors of the pipeline, one sentence each. If there are any, every `exchange` throws
        /// `.configuration` with them.
        public let problems: [String]
        let chain: Chain
        /// The field declarations of the client's configuration and of the interceptors.
        let fields: Redaction.Rules
        let secrets: DeclaredSecrets
        private let attemptTimeout: Duration?
        /// The counter of the client's running calls; nil for a runner without a client.
        private let calls: CallGate?

        /// Creates a runner over `transport`. Never fails: configuration errors are listed in `problems`.
        public init(pipeline: Pipeline, transport: any Transport) {
            self.init(pipeline: pipeline, setup: Pipeline.Environment(), chain: Chain(pipeline, transport))
        }

        /// Creates a runner that shares the chain of another one with the same pipeline and transport.
        init(pipeline: Pipeline, setup: Pipeline.Environment, chain: Chain, calls: CallGate? = nil) {
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
        /// Returns when the response head has arrived, whatever the status is. A small body
        /// (`TransportConfiguration.smallBody`) has then arrived too. Throws `NetworkError`: `.configuration` if the
        /// pipeline has problems, otherwise the failure of the call.
        public func exchange(
            _ request: HTTPRequest, in context: ExchangeContext
        ) async throws(NetworkError) -> HTTPResponse {
            var request = request
            if !secrets.isEmpty { request.secrets = secrets }
            return try await exchange(request, in: context) { $0 }
        }

        /// Sends `request` and processes the response with `finish` as a part of the call: observers are notified of a
        /// success only after `finish` has returned, and an error that `finish` throws ends the call. The request
        /// already has `secrets`.
        func exchange<Value>(
            _ request: HTTPRequest, in context: ExchangeContext, finish: (HTTPResponse) async throws -> Value
        ) async throws(NetworkError) -> Value {
            let start = context.isObserved ? context.time.now : SystemTime.Instant(nanoseconds: 0)
            context.begin(request)
            do {
                guard problems.isEmpty else {
                    throw NetworkError(.configuration, detail: problems.joined(separator: " "))
                }
                try Task.checkCancellation()
                try calls?.enter()
                defer { calls?.leave() }
                var response = try await Next(context: context, chain: chain)(request)
                // A response from a cache, a mock or a hook has no declared secrets yet.
                secrets.declare(in: &response.headers)
                let value = try await finish(response)
                if context.isObserved {
                    context.conclude(request, with: response, after: start.duration(to: context.time.now))
                    await context.events?.queue?.allDelivered()
                }
                return value
            } catch {
                var failure = NetworkError(error)
                    .naming(NetworkError.RequestLine(request), route: context.routeName)
                if case .timedOut(let phase) = failure.reason {
                    failure.detail = bounded(failure.detail, phase, in: context)
                }
                if failure.codecs == nil, failure.response != nil { failure.codecs = context.codecs }
                failure = failure.withholding(secrets)
                if context.isObserved {
                    context.conclude(request, with: failure, after: start.duration(to: context.time.now))
                    await context.events?.queue?.allDelivered()
                }
                throw failure
            }
        }

        /// Returns the detail of a timeout with the limits of the call, unless the detail names them.
        private func bounded(_ detail: String, _ phase: NetworkError.Phase, in context: ExchangeContext) -> String {
            // Texts of libcurl have no full stop.
            let detail = detail.isEmpty || detail.utf8.last == UInt8(ascii: ".") ? detail : detail + "."
            let attempt = (context.timeouts.attempt ?? attemptTimeout).flatMap { $0 < Timeouts.unlimited ? $0 : nil }
            let each = attempt.map { "ach attempt may wait \($0.brief) for its response." }
            let total = context.timeouts.total
            if phase == .total, let total {
                let limit = "The call was not complete within \(total.brief)"
                let texts = [detail.begins(with: limit) ? nil : limit + ".", detail, each.map { "E" + $0 }]
                return texts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
            }
            let spent = context.start.duration(to: context.time.now).brief
            return "\(detail) The call took \(spent); it \(total.map { "may take \($0.brief)" } ?? "has no limit")"
                + (each.map { ", and e" + $0 } ?? ".")
        }
    }
}

extension Pipeline.Runner: CustomReflectable {
    /// A mirror that shows the descriptions of the pipeline and the transport.
    public var customMirror: Mirror {
        Mirror(self, children: ["pipeline": "\(pipeline)", "transport": transport.label])
    }
}

/// A policy that is checked when a request leaves the pipeline, after all waits, and that can still refuse the request.
package protocol SendCheck: AnyObject, Sendable {
    /// The policy that is checked after this one; nil for the last one.
    var outer: (any SendCheck)? { get }

    /// Throws if the request must no longer be sent.
    ///
    /// - `context`: the context of the attempt, including the time that it has waited in queues of the pipeline.
    func leave(at now: SystemTime.Instant, in context: ExchangeContext) throws
}
