// SPDX-License-Identifier: MIT

import CurlewFoundation
public import CurlewHTTP

/// Clients derived from this one. They share its transport and the state of its interceptors; this client does not
/// change.
extension APIClient {
    /// Returns a client with these fields added to `Configuration.headers`, where they replace those of the same names.
    public func with(headers: HTTPHeaders) -> APIClient {
        var configuration = core.configuration
        configuration.headers = configuration.headers.merging(headers, replacing: true)
        return derived(configuration: configuration)
    }

    /// Returns a client that also sends these query items, after those of this client and before those of each call.
    /// Calls to absolute URLs, and calls with a base URL of their own, do not send them.
    public func with(query: QueryItems) -> APIClient {
        derived(query: core.query + query)
    }

    /// Returns a client whose calls start from these options, which override this client's one by one. Options that a
    /// call sets itself take precedence.
    public func with(options: RequestOptions) -> APIClient {
        derived(options: core.options?.overridden(by: options) ?? options)
    }

    /// Returns a client whose calls get no credential or signature from a built-in interceptor, unless a call selects
    /// one. Cookies, and fields that the app sets itself, are still sent. Use it for signing in, where an old token
    /// must not be sent and a 401 means a wrong password.
    public func withoutCredentials() -> APIClient {
        with(options: .withoutCredentials)
    }

    /// Returns a client for another base URL.
    ///
    /// For the same origin, and if this client has no base URL, everything is kept. For another origin, everything that
    /// may be a secret of the first origin is removed: header fields, query items, and the interceptors at
    /// `.authentication` and `.signing`. Add those of the other origin instead. Hooks and interceptors of the app are
    /// kept and remain scoped to the first origin: only additions that are harmless, or declared as harmless, are sent
    /// to the other origin. See `.onRequest`.
    public func with(baseURL: BaseURL) -> APIClient {
        let home = core.baseURL?.origin
        guard core.baseURL != nil, home != baseURL.origin else { return derived(baseURL: baseURL) }
        var configuration = core.configuration
        configuration.headers = HTTPHeaders()
        return derived(
            baseURL: baseURL, pipeline: pipeline.moved(from: home), configuration: configuration, query: QueryItems())
    }

    /// Returns a client with one more interceptor at its placement. For the parameters, see
    /// `Pipeline.adding(_:at:changesPrincipal:)`.
    public func adding(
        _ interceptor: any Interceptor, at placement: Placement? = nil, changesPrincipal: Bool? = nil
    ) -> APIClient {
        derived(pipeline: pipeline.adding(interceptor, at: placement, changesPrincipal: changesPrincipal))
    }

    private func derived(
        baseURL: BaseURL? = nil, pipeline: Pipeline? = nil, configuration: APIClient.Configuration? = nil,
        query: QueryItems? = nil, options: RequestOptions? = nil
    ) -> APIClient {
        APIClient(
            Core(
                baseURL: baseURL ?? core.baseURL, pipeline: pipeline ?? core.exchanger.pipeline,
                transport: core.exchanger.transport, configuration: configuration ?? core.configuration,
                query: query ?? core.query, options: options ?? core.options,
                chain: pipeline == nil ? core.exchanger.chain : nil, calls: core.calls,
                observers: core.observers, cause: core.clientContext.cause))
    }

    /// The base URL of paths; nil for a client that only sends to absolute URLs.
    public var baseURL: BaseURL? { core.baseURL }

    /// The interceptors, from the caller to the transport.
    public var pipeline: Pipeline { core.exchanger.pipeline }

    /// The transport, shared by the copies of the client and the clients derived from it.
    public var transport: any Transport { core.exchanger.transport }

    /// The settings of all calls, as passed to the initializer and changed by `with(headers:)` and `with(baseURL:)`.
    public var configuration: APIClient.Configuration { core.configuration }

    /// Configuration errors and warnings, one sentence each. Empty if there are none.
    ///
    /// Errors come first: with an invalid base URL, calls to a path throw `.invalidRequest`; with an error of the
    /// pipeline, every call throws `.configuration`. Warnings, such as one about a cache that cannot work, prevent no
    /// call.
    public var problems: [String] { obstacles + warnings }

    private var obstacles: [String] {
        (core.baseURL?.problem.map { [$0.detail] } ?? []) + core.exchanger.problems
    }

    private var warnings: [String] {
        let names = core.unsentFields.map(\.text).ordered(by: <)
        let unsent =
            names.isEmpty
            ? []
            : [
                "The client has no base URL, so no call receives \(names.inWords) of its configuration."
                    + " Set a base URL, declare them in APIClient.Configuration.fields.harmless, or name the origin:"
                    + " .onRequest(for: …)."
            ]
        return unsent + pipeline.warnings(in: Pipeline.Environment(clientOrigin: core.baseURL?.origin), over: transport)
    }
}

extension APIClient: MirroredByDescription {
    /// The base URL, pipeline, transport, configuration errors and warnings, each on its own line.
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
}
