// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension APIClient.Core {
    /// A call that is ready for the pipeline: its request, as it is before the interceptors run, and its context.
    struct Call {
        let request: HTTPRequest
        let context: ExchangeContext
    }

    /// Makes the call of `route`. If its request cannot be built, waits until the observers have received the error,
    /// and then throws it.
    ///
    /// - `response`: the type of the response, on which the `Accept` field depends.
    /// - `changes`: the changes of a capability; nil for a call of the app.
    func make(
        _ route: some Route, response: any Any.Type, _ codecs: Codecs? = nil, isObserved: Bool = true,
        changing changes: APIClient.CallChanges? = nil
    ) async throws(NetworkError) -> Call {
        var options = options?.overridden(by: route.options) ?? route.options
        TaskOptions.change?(&options, configuration.timeouts)
        changes?.options(&options)
        let codecs = codecs ?? options.codecs ?? configuration.codecs
        var context = ExchangeContext(
            ExchangeContext.Call(
                id: Numbers.calls.next(), routeName: route.name, options: consume options,
                events: isObserved ? events : nil, endpoint: route, codecs: codecs, client: clientContext))
        do throws(NetworkError) {
            var request = try request(for: route, response: response, codecs)
            if context.options.sendsIdempotencyKey == true, !request.method.isIdempotent,
                !request.headers.contains(.idempotencyKey)
            {
                request.headers[.idempotencyKey] = UUID().uuidString
            }
            if let choice = context.options[ServerChoiceKey.self] { choice.apply(to: &request, in: &context) }
            do throws(NetworkError) { try changes?.request(&request, context) } catch {
                throw error.naming(NetworkError.RequestLine(request), route: context.routeName)
            }
            return Call(request: consume request, context: context)
        } catch {
            context.conclude(nil, with: error, after: .zero)
            await context.eventsDelivered()
            throw error
        }
    }

    /// Builds and validates the request for `route`, as it is before the interceptors run. Throws the first problem of
    /// the route, such as an invalid path.
    func request(
        for route: some Route, response: any Any.Type, _ codecs: Codecs? = nil
    ) throws(NetworkError) -> HTTPRequest {
        let codecs = codecs ?? route.options.codecs ?? options?.codecs ?? configuration.codecs
        do throws(NetworkError) {
            let path = route.path
            if let problem = path.problem { throw problem }
            let own = route.baseURL
            guard let base = own ?? baseURL else {
                throw NetworkError(
                    .configuration, detail: "Neither the client nor the route has a base URL.",
                    hint: "Create the client with APIClient(baseURL: …), or request an absolute URL with .get(url:).")
            }
            guard let origin = base.origin else { throw base.problem ?? NetworkError(.configuration) }

            var target = base.path.isEmpty ? path.encoded : base.path + path.encoded
            if target.utf8.first != UInt8(ascii: "/") { target = "/" + target }
            if own == nil, !query.isEmpty { query.write(toFrontOf: &target) }
            let items = route.query
            if !items.isEmpty { items.write(to: &target, hasQuery: target.utf8.contains(UInt8(ascii: "?"))) }

            let content = route.content
            let isHome = own == nil || baseURL == nil || baseURL?.origin == origin
            var headers = fields(isHome: isHome, accept: Self.isRaw(response) ? nil : codecs)
            let mine = route.headers
            if !mine.isEmpty || mine.problem != nil { headers = headers.merging(mine, replacing: true) }
            if let type = content.contentType, !headers.contains(.contentType) { headers.append(.contentType, type) }

            let (method, secrets) = (route.method, exchanger.secrets)
            let body: RequestBody
            do throws(NetworkError) {
                body = try content.body(using: codecs)
            } catch {
                let request = HTTPRequest(method, origin: origin, target: target, secrets: secrets)
                throw error.naming(NetworkError.RequestLine(request))
            }
            return try HTTPRequest(
                method, origin: origin, target: target, headers: headers, body: body, secrets: secrets
            ).validated()
        } catch {
            var failure = error.withholding(exchanger.secrets)
            failure.routeName = route.name
            if failure.request == nil { failure.unsentMethod = route.method }
            throw failure
        }
    }

    /// Returns the client's fields for a call: all if `isHome` is true, otherwise only `Accept` and `User-Agent`.
    ///
    /// - `isHome`: whether the call goes to the client's origin, or the client has no base URL.
    /// - `codecs`: the codecs that decode the response; nil if it needs none, so that any media type is accepted.
    private func fields(isHome: Bool, accept codecs: Codecs?) -> HTTPHeaders {
        guard isHome else { return Self.basic(configuration, accept: codecs?.accept ?? "*/*") }
        guard let accept = codecs?.accept else { return rawHeaders }
        if accept == configuration.codecs.accept { return decodedHeaders }
        return Self.basic(configuration, accept: accept).merging(ownHeaders, replacing: true)
    }

    /// Whether responses of this type need no codec.
    private static func isRaw(_ type: any Any.Type) -> Bool {
        type == Void.self || type == Data.self || type == String.self || type == HTTPResponse.self
            || type == Data?.self || type == String?.self
    }
}
