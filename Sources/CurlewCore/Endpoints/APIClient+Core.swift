// SPDX-License-Identifier: MIT

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
}
