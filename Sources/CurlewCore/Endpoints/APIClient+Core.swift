// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension APIClient {
    /// The shared state of a client and its copies. Values that are the same for all calls are computed once.
    final class Core: Sendable {
        let baseURL: BaseURL?
        let configuration: APIClient.Configuration
        let exchanger: Pipeline.Runner
        let calls: CallGate
        /// The query items that every call to a path below the base URL sends.
        let query: QueryItems
        /// The options from which each call starts; nil for the defaults.
        let options: RequestOptions?
        /// The fields of the configuration that calls to the client's origin send.
        let ownHeaders: HTTPHeaders
        /// The fields of a call whose response a codec decodes; `rawHeaders` has those of a call that needs no codec.
        let decodedHeaders: HTTPHeaders
        let rawHeaders: HTTPHeaders
        /// The configured fields that a client without a base URL does not send, because they may be secrets and belong
        /// to no origin.
        let unsentFields: Set<HTTPField.Name>
        /// The properties of the client in the context of each call.
        let clientContext: ExchangeContext.Client
        /// The configured observers, which derived clients share; nil without observers.
        let observers: EventSinks?
        /// The observers, with the interceptors that observe; nil without either.
        let events: EventSinks?

        /// - `observers`: the configured observers, if they exist.
        /// - `events`: all observers of another client, for calls on behalf of its calls. Its interceptors that observe
        ///   are notified once, also if they are in this pipeline too.
        /// - `cause`: the number of the call on whose behalf the calls are made.
        init(
            baseURL: BaseURL?, pipeline: Pipeline, transport: any Transport, configuration: APIClient.Configuration,
            query: QueryItems = QueryItems(), options: RequestOptions? = nil, chain: Chain? = nil,
            calls: CallGate = CallGate(), observers: EventSinks? = nil, events: EventSinks? = nil,
            cause: UInt64? = nil
        ) {
            let observers = observers ?? events ?? EventSinks(configuration.observers)
            self.observers = observers
            self.events = events ?? .adding(pipeline.entries.compactMap(\.traits.sink), before: observers)
            self.calls = calls
            self.baseURL = baseURL
            self.configuration = configuration
            self.query = query
            self.options = options
            exchanger = Pipeline.Runner(
                pipeline: pipeline,
                setup: Pipeline.Environment(
                    clientOrigin: baseURL?.origin,
                    totalTimeout: configuration.timeouts.overridden(by: options?.timeouts ?? Timeouts()).total,
                    fields: configuration.fields),
                chain: chain ?? Chain(pipeline, transport), calls: calls)
            var own = configuration.headers
            let allowed = ForwardedFields(secret: configuration.fields.secret, declared: configuration.fields.harmless)
            unsentFields = baseURL == nil ? Set(own.map(\.name).filter { !allowed.allow($0) }) : []
            for name in unsentFields { own.remove(name) }
            ownHeaders = own
            clientContext = ExchangeContext.Client(
                origin: baseURL?.origin,
                bounds: CallBounds(timeouts: configuration.timeouts, limits: configuration.limits),
                time: configuration.time,
                homeFields: Set(own.map(\.name)).subtracting([.accept, .acceptLanguage, .userAgent]),
                fields: exchanger.fields, secrets: exchanger.secrets, cause: cause,
                settings: Settings(baseURL: baseURL, configuration: configuration, query: query))
            decodedHeaders = Self.basic(configuration, accept: configuration.codecs.accept)
                .merging(own, replacing: true)
            rawHeaders = Self.basic(configuration, accept: "*/*").merging(own, replacing: true)
        }

        /// Returns the fields that are sent to every origin: `Accept` and `User-Agent`.
        static func basic(_ configuration: APIClient.Configuration, accept: String) -> HTTPHeaders {
            var headers: HTTPHeaders = [.accept: accept]
            headers[.userAgent] = configuration.userAgent
            return headers
        }
    }
}

extension APIClient.Core {
    /// The properties of a client that a client on behalf of its calls also has.
    struct Settings: Sendable {
        var baseURL: BaseURL?
        var configuration = APIClient.Configuration()
        var query = QueryItems()
    }

    /// A request that is ready to be sent, with its context.
    struct PreparedCall {
        let request: HTTPRequest
        let context: ExchangeContext
    }

    /// Builds the request and the context of a call. Notifies observers if the request cannot be built.
    func prepare(
        _ route: some Route, response: any Any.Type, _ codecs: Codecs?, isObserved: Bool = true,
        change: (inout RequestOptions) -> Void = { _ in }
    ) throws(NetworkError) -> PreparedCall {
        var options = options?.overridden(by: route.options) ?? route.options
        TaskOptions.change?(&options, configuration.timeouts)
        change(&options)
        let codecs = codecs ?? options.codecs ?? configuration.codecs
        var context = ExchangeContext(
            ExchangeContext.Call(
                id: Numbers.calls.next(), routeName: route.name, options: options,
                events: isObserved ? events : nil, endpoint: route, codecs: codecs,
                client: clientContext))
        do throws(NetworkError) {
            var request = try request(for: route, response: response, codecs)
            if options.sendsIdempotencyKey == true, !request.method.isIdempotent,
                !request.headers.contains(.idempotencyKey)
            {
                request.headers[.idempotencyKey] = UUID().uuidString
            }
            if let choice = options.serverChoice { choice.apply(to: &request, in: &context) }
            return PreparedCall(request: consume request, context: context)
        } catch {
            context.conclude(nil, with: error, after: .zero)
            throw error
        }
    }

    /// Prepares a call that is about to be sent. If that fails, waits until the observers have received the error, then
    /// throws it.
    func begin(
        _ route: some Route, response: any Any.Type, _ codecs: Codecs?,
        change: (inout RequestOptions) -> Void = { _ in }
    ) async throws(NetworkError) -> PreparedCall {
        do throws(NetworkError) {
            return try prepare(route, response: response, codecs, change: change)
        } catch {
            await events?.queue?.allDelivered()
            throw error
        }
    }

    /// Builds the request for `route`. Errors include the name of the route.
    func request(
        for route: some Route, response: any Any.Type, _ codecs: Codecs? = nil
    ) throws(NetworkError) -> HTTPRequest {
        let codecs = codecs ?? route.options.codecs ?? options?.codecs ?? configuration.codecs
        do throws(NetworkError) {
            return try build(route, codecs: codecs, accept: RawResponse.isRaw(response) ? "*/*" : codecs.accept)
        } catch {
            var failure = error.withholding(exchanger.secrets)
            failure.routeName = route.name
            if failure.request == nil { failure.unsentMethod = route.method }
            throw failure
        }
    }

    /// Throws `.status` unless the status is a success or the call accepts it. For a 404 or 410 that the call decodes
    /// as nil, returns the nil value of `type`, which must be an Optional. Otherwise returns nil: the response must be
    /// decoded.
    func check<Value>(_ response: HTTPResponse, _ call: PreparedCall, _ type: Value.Type) async throws -> Value? {
        let status = response.status
        if status.isSuccess { return nil }
        let options = call.context.options
        if options.acceptedStatuses.contains(status) { return nil }
        if options.decodesNotFoundAsNil == true, status == .notFound || status == .gone,
            let absent = absentValue(of: type)
        {
            response.body.cancel()
            return absent
        }
        throw try await statusError(response, call)
    }

    /// Returns the error for a status, with the first bytes of the body, up to `Limits.errorExcerpt`. If the body
    /// breaks off, the error has the part that arrived.
    private func statusError(_ response: HTTPResponse, _ call: PreparedCall) async throws -> NetworkError {
        let limit = call.context.limits.errorExcerpt
        var excerpt = NetworkError.Response.Excerpt(limit: limit)
        do {
            for try await chunk in response.body where !excerpt.append(chunk) { break }
        } catch {
            if Task.isCancelled { throw NetworkError(.cancelled) }
        }
        response.body.cancel()
        var failure = NetworkError(
            .status(response.status), response: response.errorResponse(excerpt, in: call.context))
        if response.status == .notFound { failure.hint = slashHint(call.request) }
        failure.attempts = response.attempts
        return failure
    }

    /// Returns the error for a decoding failure, with the response and the part of its body that is in memory, up to
    /// `Limits.errorExcerpt`.
    func explained(_ error: any Error, _ response: HTTPResponse, _ call: PreparedCall) -> NetworkError {
        var failure = NetworkError(error)
        if failure.attempts.isEmpty { failure.attempts = response.attempts }
        guard failure.response != nil || failure.reason == .decoding else { return failure }
        let body = failure.response?.body ?? response.body.bufferedData
        failure.response = response.errorResponse(body, in: call.context)
        return failure
    }

    /// Returns a hint if the path contains `%2F`, as when an interpolated value contains a slash; otherwise nil. Few
    /// servers support `%2F` in a path.
    private func slashHint(_ request: HTTPRequest) -> String? {
        let path = Array(request.target.upTo("?").utf8)
        let hasSlash = path.indices.dropLast(2).contains { path[$0...].prefix(3).elementsEqual("%2F".utf8) }
        guard hasSlash else { return nil }
        return "The path contains %2F: a value with a slash is one segment. For several segments, interpolate each of "
            + "them, \"/repos/\\(owner)/\\(name)\", or write \\(raw:)."
    }
}
