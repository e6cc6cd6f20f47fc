// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Clients made from this one. They share its transport and the state of its interceptors; this one stays as it is.
extension APIClient {
    /// A client that also sends these fields; they replace its own of the same names.
    public func with(headers: HTTPHeaders) -> APIClient {
        var configuration = core.configuration
        configuration.headers = configuration.headers.merging(headers, replacing: true)
        return derived(configuration: configuration)
    }

    /// A client that also sends these query items, before those of each call. Absolute URLs stay as they are.
    public func with(query: QueryItems) -> APIClient {
        derived(query: core.query + query)
    }

    /// A client whose calls begin with these options; what a call sets itself wins.
    public func with(options: RequestOptions) -> APIClient {
        derived(options: core.options?.overridden(by: options) ?? options)
    }

    /// A client whose calls go without any credential, whatever interceptors it has, unless a call says otherwise: for
    /// signing in, where an old token is not to go along and a 401 means a wrong password.
    public func withoutCredentials() -> APIClient {
        with(options: .withoutCredentials)
    }

    /// A client for another place.
    ///
    /// On the same origin everything stays. A client for another origin keeps nothing that may be a secret of the first:
    /// its header fields, its query items and its interceptors at `.authentication` and `.signing` are left out; give it
    /// its own. Hooks and interceptors of the app stay, and go on belonging to the first origin: of what they add, only
    /// what is harmless or declared goes to the other one (`RequestHook`).
    public func with(baseURL: BaseURL) -> APIClient {
        let home = core.baseURL?.origin
        guard core.baseURL != nil, home != baseURL.origin else { return derived(baseURL: baseURL) }
        var configuration = core.configuration
        configuration.headers = HTTPHeaders()
        let pipeline = pipeline.withoutCredentials()
        let kept = home.map { pipeline.belonging(to: $0) } ?? pipeline
        return derived(baseURL: baseURL, pipeline: kept, configuration: configuration, query: QueryItems())
    }

    /// A client with one more interceptor, at its placement. The rest as for `Pipeline.adding(_:at:changesWhoseAnswer:)`.
    public func adding(
        _ interceptor: any Interceptor, at placement: Placement? = nil, changesWhoseAnswer: Bool? = nil
    ) -> APIClient {
        derived(pipeline: pipeline.adding(interceptor, at: placement, changesWhoseAnswer: changesWhoseAnswer))
    }

    private func derived(
        baseURL: BaseURL? = nil, pipeline: Pipeline? = nil, configuration: ClientConfiguration? = nil,
        query: QueryItems? = nil, options: RequestOptions? = nil
    ) -> APIClient {
        APIClient(
            Core(
                baseURL: baseURL ?? core.baseURL, pipeline: pipeline ?? core.exchanger.pipeline,
                transport: core.exchanger.transport, configuration: configuration ?? core.configuration,
                query: query ?? core.query, options: options ?? core.options,
                chain: pipeline == nil ? core.exchanger.chain : nil, calls: core.calls, events: core.events))
    }
}

/// What a client is made of.
extension APIClient {
    /// Where paths begin; nil for a client that only asks absolute URLs.
    public var baseURL: BaseURL? { core.baseURL }

    /// The interceptors in force, from the caller to the wire.
    public var pipeline: Pipeline { core.exchanger.pipeline }

    /// The engine, shared by the copies of the client and by those made from it.
    public var transport: any Transport { core.exchanger.transport }

    /// What all calls have in common, as it was given and as `with(headers:)` changed it.
    public var configuration: ClientConfiguration { core.configuration }

    /// What cannot work, and what works but hardly as it was meant, one sentence each. Empty when all is well.
    ///
    /// What cannot work comes first, and every `send` throws it: `.invalidRequest` for the base URL, `.configuration` for
    /// the pipeline. The rest keeps no call from being sent: an interceptor that keeps a cache from working is named.
    public var problems: [String] { obstacles + warnings }

    private var obstacles: [String] {
        (core.baseURL?.problem.map { [$0.detail] } ?? []) + core.exchanger.problems
    }

    private var warnings: [String] {
        let homeless = core.homelessFields.map(\.text).sorted()
        let unsent =
            homeless.isEmpty
            ? []
            : [
                "The client has no base URL, so no call gets \(homeless.inWords) of its configuration."
                    + " Give it a base URL, declare them in ClientConfiguration.fields.harmless, or name the origin:"
                    + " .onRequest(for: …)."
            ]
        return unsent + pipeline.warnings(in: PipelineSetup(clientOrigin: core.baseURL?.origin), over: transport)
    }
}

extension APIClient: CustomStringConvertible, CustomReflectable {
    /// Base URL, pipeline, transport and problems, for the developer.
    public var description: String {
        let base = core.baseURL.map { core.exchanger.secrets.redaction.url("\($0)") }
        var lines = [
            "APIClient \(base ?? "without a base URL")",
            "  pipeline   \(pipeline)",
            "  transport  \(transport.label)",
        ]
        lines += obstacles.map { "  problem    \($0)" } + warnings.map { "  warning    \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
