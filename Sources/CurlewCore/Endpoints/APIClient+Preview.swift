// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON

/// Previews of the request that a call would send. Nothing is sent.
extension APIClient {
    /// Builds and returns the request for an endpoint or a route, as it is before the interceptors run. Nothing is
    /// sent. Throws the error that `send` would throw if the request cannot be built. For a route that is not an
    /// endpoint, the `Accept` field is that of a call with a decoded response.
    public func request(for route: some Route) throws(NetworkError) -> HTTPRequest {
        try core.request(for: route, response: route.responseType)
    }

    /// Builds and returns the HTTP request for a `Request`, as it is before the interceptors run. Nothing is sent.
    /// Throws the error that `send` would throw if the request cannot be built.
    public func request<Value>(for request: Request<Value>) throws(NetworkError) -> HTTPRequest {
        try core.request(for: request, response: Value.self)
    }

    /// Returns the request that a call of an endpoint or a route would send, after the interceptors have changed it,
    /// without sending it. It has the credentials, identifiers and signatures of a request that is sent.
    ///
    /// Runs the interceptors whose `InterceptorTraits.runsInPreview` is true, in their order, up to the transport.
    /// Interceptors that need responses or decide about sending do not run: logs, caches, retries, limits. A credential
    /// source is called as for a call that is sent. The result may contain secrets; its `description` and
    /// `curlCommand()` omit them.
    ///
    /// Throws `NetworkError`: the error for a request that cannot be built, an error that an interceptor throws, and
    /// `.configuration` if the pipeline has problems or an interceptor returns a response without sending the request.
    @concurrent
    public func preview(_ route: some Route) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(route)
    }

    /// Returns the HTTP request that a call of a `Request` would send, after the interceptors have changed it, without
    /// sending it: `try await client.preview(.user(id: 1))`.
    @concurrent
    public func preview<Value>(_ request: Request<Value>) async throws(NetworkError) -> HTTPRequest {
        try await core.preview(request)
    }

    /// Returns the request of a call that is sent outside of the pipeline, such as in the background. Unlike a preview,
    /// it loads and refreshes tokens.
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
