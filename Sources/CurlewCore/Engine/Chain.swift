// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The interceptors and the transport of a pipeline, shared by all exchanges of a client.
final class Chain: Sendable {
    let interceptors: [any Interceptor]
    let transport: any Transport
    /// The identity of the chain: equal numbers mean the same interceptors over the same transport.
    let number: UInt64
    /// The interceptors with their descriptions, in the same order.
    let entries: [Pipeline.Entry]
    /// `InterceptorTraits.principal` of each interceptor.
    let principals: [@Sendable (HTTPRequest, ExchangeContext) -> Principal]
    /// `InterceptorTraits.prepare` of the interceptors that have one, with their positions.
    let preparations: [(position: Int, prepare: @Sendable (ExchangeContext) async -> Void)]
    let retryBudget: RetryBudget?
    /// The scope of each interceptor; nil if none of them is restricted.
    private let scopes: [InterceptorTraits.Scope]?

    init(_ pipeline: Pipeline, _ transport: any Transport, number: UInt64 = Numbers.chains.next()) {
        let entries = pipeline.entries.filter { !$0.traits.onlyObserves }
        self.entries = entries
        self.transport = transport
        self.number = number
        interceptors = entries.map(\.interceptor)
        principals = entries.map(\.traits.principal)
        preparations = entries.enumerated().compactMap { position, entry in
            entry.traits.prepare.map { (position, $0) }
        }
        retryBudget = pipeline.retryBudget
        let scopes = entries.map(\.traits.scope)
        self.scopes = scopes.allSatisfy { $0 == .unrestricted } ? nil : scopes
    }

    /// True if the additions of at least one interceptor are restricted to one origin.
    var isScoped: Bool { scopes != nil }

    /// Returns whether the additions of the interceptor at `position` belong to an origin other than that of `request`.
    /// False if `position` is not an index of the interceptors.
    func isForeign(_ request: HTTPRequest, to position: Int, in context: ExchangeContext) -> Bool {
        guard let scopes, scopes.indices.contains(position) else { return false }
        switch scopes[position] {
        case .unrestricted: return false
        case .clientOrigin: return context.clientOrigin.map { !$0.shares(with: request.origin) } ?? false
        case .origin(let home): return !home.shares(with: request.origin)
        }
    }
}
