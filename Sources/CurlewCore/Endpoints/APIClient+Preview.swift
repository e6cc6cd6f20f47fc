// SPDX-License-Identifier: MIT

/// What a call would send. Nothing reaches the network.
extension APIClient {
    /// The message that `endpoint` becomes, before interceptors; nothing is sent. Throws what `send` would throw before
    /// sending.
    public func request<E: Endpoint>(for endpoint: E) throws(NetworkError) -> HTTPRequest {
        try core.request(for: endpoint, answer: E.Response.self)
    }

    /// The message that an inline request becomes, before interceptors; nothing is sent. Throws as for an endpoint.
    public func request<Value>(for request: Request<Value>) throws(NetworkError) -> HTTPRequest {
        try core.request(for: request, answer: Value.self)
    }

    /// The message that `route` becomes when its answer is decoded, before interceptors; nothing is sent. Throws as for
    /// an endpoint.
    public func request(for route: some Route) throws(NetworkError) -> HTTPRequest {
        try core.request(for: route, answer: JSONValue.self)
    }

    /// The message that a typed call becomes after the interceptors: with its credentials, ids and signatures.
    ///
    /// Runs the interceptors that say so (`Interceptor.runsInPreview`), in their order, up to the transport's place. Not
    /// run are those that wait for answers or decide about sending: logs, caches, retries, limits. A credential source
    /// is asked as for a call. The result may hold secrets; its `description` and `curlCommand()` leave them out.
    ///
    /// Throws `NetworkError`: what an interceptor throws, and `.configuration` when the pipeline has problems or an
    /// interceptor answers the call by itself.
    @concurrent
    public func preview<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(endpoint, answer: E.Response.self)
    }

    /// The same for an inline request: `try await client.preview(.user(id: 1))`.
    @concurrent
    public func preview<Value>(_ request: Request<Value>) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(request, answer: Value.self)
    }

    /// The same for a route whose answer is decoded.
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
            // Marks those too that came after the request was built.
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
