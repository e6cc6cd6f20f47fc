// SPDX-License-Identifier: MIT

/// Previews of the request that a call would send. Nothing is sent.
extension APIClient {
    /// Returns the request that `endpoint` builds, before interceptors. Nothing is sent. Throws what `send` would throw
    /// before sending.
    public func request<E: Endpoint>(for endpoint: E) throws(NetworkError) -> HTTPRequest {
        try core.request(for: endpoint, answer: E.Response.self)
    }

    /// Returns the request that an inline request builds, before interceptors. Nothing is sent. Throws as for an
    /// endpoint.
    public func request<Value>(for request: Request<Value>) throws(NetworkError) -> HTTPRequest {
        try core.request(for: request, answer: Value.self)
    }

    /// Returns the request that `route` builds when its response is decoded, before interceptors. Nothing is sent.
    /// Throws as for an endpoint.
    public func request(for route: some Route) throws(NetworkError) -> HTTPRequest {
        try core.request(for: route, answer: JSONValue.self)
    }

    /// Returns the request of a typed call after the interceptors, with its credentials, identifiers and signatures.
    ///
    /// Runs the interceptors whose `Interceptor.runsInPreview` is true, in their order, up to the transport.
    /// Interceptors that need responses or decide about sending do not run: logs, caches, retries, limits. A credential
    /// source is called as for a sent call. The result may contain secrets; its `description` and `curlCommand()` omit
    /// them.
    ///
    /// Throws `NetworkError`: the errors of interceptors, and `.configuration` when the pipeline has problems or an
    /// interceptor responds to the call itself.
    @concurrent
    public func preview<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(endpoint, answer: E.Response.self)
    }

    /// Returns the request of an inline request after the interceptors: `try await client.preview(.user(id: 1))`.
    @concurrent
    public func preview<Value>(_ request: Request<Value>) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(request, answer: Value.self)
    }

    /// Returns the request of a route after the interceptors, for a response that is decoded.
    @concurrent
    public func preview(_ route: some Route) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(route, answer: JSONValue.self)
    }
}

extension APIClient.Core {
    func preview<Value>(_ route: some Route, answer: Value.Type) async throws(NetworkError) -> HTTPRequest {
        let call = try prepare(route, answer: answer, nil, isObserved: false)
        let result = Locked<HTTPRequest?>(nil)
        let end = ClosureTransport(changesWhoseAnswer: false) { request, context in
            var request = request
            // Also marks secrets that were added after the request was built.
            request.secrets = context.secrets
            result.withLock { $0 = request }
            throw NetworkError(.refused(by: .preview))
        }
        let previewed = Exchanger(
            pipeline: Pipeline(exchanger.pipeline.interceptors.filter { $0.runsInPreview }), transport: end,
            setup: PipelineSetup(clientOrigin: baseURL?.origin, fields: exchanger.fields))
        do {
            _ = try await previewed.exchange(call.request, in: call.context)
        } catch  where error.reason == .refused(by: .preview) {
            if let request = result.withLock({ $0 }) { return request }
            throw error
        }
        throw NetworkError(
            .configuration, detail: "An interceptor answered the call without sending it, so there is nothing to see.",
            request: RequestLine(call.request))
    }
}
