// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The interceptors and the transport of a pipeline, shared by all exchanges of a client.
final class Chain: Sendable {
    let interceptors: [any Interceptor]
    let transport: any Transport
    /// The identity of the chain: equal numbers mean the same interceptors over the same transport.
    let number: UInt64
    /// The interceptors that must load data before they can return a principal, with their positions.
    let preparing: [(place: Int, interceptor: any PreparingInterceptor)]
    /// The scope of each interceptor; nil if every scope is `.own`.
    private let scopes: [InterceptorScope]?

    init(_ interceptors: [any Interceptor], _ transport: any Transport, number: UInt64 = Numbers.chains.next()) {
        let interceptors = interceptors.map(\.unwrapped).filter { !$0.onlyObserves }
        self.interceptors = interceptors
        self.transport = transport
        self.number = number
        let scopes = interceptors.map(\.declaredScope)
        self.scopes = scopes.allSatisfy { $0 == .own } ? nil : scopes
        preparing = interceptors.enumerated().compactMap { place, interceptor in
            (interceptor.plain as? any PreparingInterceptor).map { (place, $0) }
        }
    }

    /// True if the additions of at least one interceptor are restricted to one origin.
    var isScoped: Bool { scopes != nil }

    /// Returns whether the additions of the interceptor at `place` belong to an origin other than that of `request`.
    /// False if `place` is not an index of the interceptors.
    func isForeign(_ request: HTTPRequest, to place: Int, in context: ExchangeContext) -> Bool {
        guard let scopes, scopes.indices.contains(place) else { return false }
        switch scopes[place] {
        case .own: return false
        case .client: return context.clientOrigin.map { !$0.shares(with: request.origin) } ?? false
        case .origin(let home): return !home.shares(with: request.origin)
        }
    }
}
