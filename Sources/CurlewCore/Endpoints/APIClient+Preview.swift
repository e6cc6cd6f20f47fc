// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON

/// Previews of the request that a call would send. Nothing is sent.
extension APIClient {
    /// Returns the request of an endpoint or a route as it is before the interceptors run, without the
    /// `Idempotency-Key` that its options may request. Nothing is sent. Throws the error that `send` would throw if the
    /// request cannot be built. For a route that is not an endpoint, the `Accept` field is that of a call with a
    /// decoded response.
    public func request(for route: some Route) throws(NetworkError) -> HTTPRequest {
        try core.request(for: route, response: route.responseType)
    }

    /// Returns the HTTP request of a `Request` as it is before the interceptors run. The rules are those for a route.
    public func request<Value>(for request: Request<Value>) throws(NetworkError) -> HTTPRequest {
        try core.request(for: request, response: Value.self)
    }

    /// Returns the request that a call of an endpoint or a route would send, after the interceptors have changed it.
    /// Nothing is sent, and observers are not notified.
    ///
    /// Runs the interceptors whose `InterceptorTraits.runsInPreview` is true, in their order, up to the transport:
    /// those that add credentials, identifiers and signatures. A credential source is called as for a call that is
    /// sent. Interceptors that refresh tokens, need responses or decide about sending do not run: logs, caches,
    /// retries, limits. The result may contain secrets; its `description` and `curlCommand()` omit them.
    ///
    /// Throws `NetworkError`: the error for a request that cannot be built, an error that an interceptor throws, and
    /// `.configuration` if one of these interceptors has a configuration error or returns a response.
    @concurrent
    public func preview(_ route: some Route) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(route)
    }

    /// Returns the HTTP request that a call of a `Request` would send: `try await client.preview(.user(id: 1))`. The
    /// rules are those for a route.
    @concurrent
    public func preview<Value>(_ request: Request<Value>) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(request)
    }

    /// Returns the request of a call that is sent outside of the pipeline, such as in the background. Unlike `preview`,
    /// this method also runs the interceptors that load and refresh tokens.
    @concurrent
    package func requestToSend(for route: some Route) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(route, isSent: true)
    }
}

extension Route {
    /// The type of the response; `JSONValue`, as an example of a decoded type, if the route specifies none.
    var responseType: any Any.Type { (self as? any Endpoint)?.ownResponseType ?? JSONValue.self }
}

extension Endpoint {
    fileprivate var ownResponseType: any Any.Type { Response.self }
}

extension APIClient.Core {
    /// - `isSent`: whether the request will be sent, so that interceptors with tokens run too.
    fileprivate func preview(_ route: some Route, isSent: Bool = false) async throws(NetworkError) -> HTTPRequest {
        let call = try await make(route, response: route.responseType, isObserved: false)
        let end = PreviewTransport(onward: exchanger.transport)
        let pipeline = Pipeline(
            entries: exchanger.pipeline.entries.filter {
                $0.traits.runsInPreview || isSent && $0.traits.prepare != nil
            })
        let previewed = Pipeline.Runner(
            pipeline: pipeline, setup: Pipeline.Environment(clientOrigin: baseURL?.origin, fields: exchanger.fields),
            chain: Chain(pipeline, end))
        do {
            _ = try await previewed.exchange(call.request, in: call.context)
        } catch  where error.reason == .refused(by: .preview) {
            if let request = end.request.withLock({ $0 }) { return request }
            throw error
        }
        throw NetworkError(
            .configuration,
            detail: "An interceptor returned a response without sending the call, so there is no request to preview.",
            request: NetworkError.RequestLine(call.request))
    }
}
