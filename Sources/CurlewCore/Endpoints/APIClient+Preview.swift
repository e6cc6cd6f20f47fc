// SPDX-License-Identifier: MIT

/// Previews of the request that a call would send. Nothing is sent.
extension APIClient {
    /// Returns the request that an endpoint or a route builds, before interceptors. Nothing is sent. Throws what `send`
    /// would throw before sending. For a route that is not an endpoint, the `Accept` field is that of a call with a
    /// decoded response.
    public func request(for route: some Route) throws(NetworkError) -> HTTPRequest {
        try core.request(for: route, response: route.responseType)
    }

    /// Returns the request that an inline request builds, before interceptors. Nothing is sent. Throws what `send`
    /// would throw before sending.
    public func request<Value>(for request: Request<Value>) throws(NetworkError) -> HTTPRequest {
        try core.request(for: request, response: Value.self)
    }

    /// Returns the request of an endpoint or a route as the interceptors have changed it, with its credentials,
    /// identifiers and signatures.
    ///
    /// Runs the interceptors whose `Interceptor.runsInPreview` is true, in their order, up to the transport.
    /// Interceptors that need responses or decide about sending do not run: logs, caches, retries, limits. A credential
    /// source is called as for a sent call. The result may contain secrets; its `description` and `curlCommand()` omit
    /// them.
    ///
    /// Throws `NetworkError`: the errors of interceptors, and `.configuration` when the pipeline has problems or an
    /// interceptor responds to the call itself.
    @concurrent
    public func preview(_ route: some Route) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(route, response: route.responseType)
    }

    /// Returns the request of an inline request as the interceptors have changed it:
    /// `try await client.preview(.user(id: 1))`.
    @concurrent
    public func preview<Value>(_ request: Request<Value>) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(request, response: Value.self)
    }
}

extension Route {
    /// The type of the response; `JSONValue`, as an example of a decoded type, if the route specifies none.
    fileprivate var responseType: any Any.Type { (self as? any Endpoint)?.ownResponseType ?? JSONValue.self }
}

extension Endpoint {
    fileprivate var ownResponseType: any Any.Type { Response.self }
}

extension APIClient.Core {
    func preview(_ route: some Route, response: any Any.Type) async throws(NetworkError) -> HTTPRequest {
        let call = try prepare(route, response: response, nil, isObserved: false)
        let result = Locked<HTTPRequest?>(nil)
        let end = ClosureTransport(changesPrincipal: false) { request, context in
            var request = request
            // Interceptors may have declared secrets after the request was built.
            request.secrets = context.secrets
            result.withLock { $0 = request }
            throw NetworkError(.refused(by: .preview))
        }
        let previewed = Pipeline.Runner(
            pipeline: Pipeline(exchanger.pipeline.interceptors.filter { $0.runsInPreview }), transport: end,
            setup: Pipeline.Environment(clientOrigin: baseURL?.origin, fields: exchanger.fields))
        do {
            _ = try await previewed.exchange(call.request, in: call.context)
        } catch  where error.reason == .refused(by: .preview) {
            if let request = result.withLock({ $0 }) { return request }
            throw error
        }
        throw NetworkError(
            .configuration,
            detail: "An interceptor returned a response without sending the call, so there is no request to preview.",
            request: RequestLine(call.request))
    }
}
