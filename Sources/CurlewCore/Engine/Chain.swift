// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The interceptors of a pipeline over their transport: what all exchanges of a client have in common.
final class Chain: Sendable {
    let interceptors: [any Interceptor]
    let transport: any Transport
    /// Tells chains apart: equal numbers mean the same interceptors over the same transport.
    let number: UInt64
    /// Those that have to load something before they can say whose answer a request gets, with their places.
    let preparing: [(place: Int, interceptor: any PreparingInterceptor)]
    /// To which origin each may attach something; nil if all of them decide that themselves.
    private let scopes: [InterceptorScope]?

    init(_ interceptors: [any Interceptor], _ transport: any Transport, number: UInt64 = ChainNumber.next()) {
        self.interceptors = interceptors
        self.transport = transport
        self.number = number
        let scopes = interceptors.map(\.declaredScope)
        self.scopes = scopes.allSatisfy { $0 == .own } ? nil : scopes
        preparing = interceptors.enumerated().compactMap { place, interceptor in
            let plain = (interceptor as? PlacedInterceptor)?.base ?? interceptor
            return (plain as? any PreparingInterceptor).map { (place, $0) }
        }
    }

    /// True if one of them attaches for one origin only.
    var isScoped: Bool { scopes != nil }

    /// Whether the interceptor at `place` attaches for another origin than that of the request.
    func isForeign(_ request: HTTPRequest, to place: Int, in context: ExchangeContext) -> Bool {
        guard let scopes, scopes.indices.contains(place) else { return false }
        switch scopes[place] {
        case .own: return false
        case .client: return context.clientOrigin.map { !$0.shares(with: request.origin) } ?? false
        case .origin(let home): return !home.shares(with: request.origin)
        }
    }
}

/// Numbers for chains, never used twice.
enum ChainNumber {
    private static let last = Locked<UInt64>(0)

    static func next() -> UInt64 {
        last.withLock { last in
            last &+= 1
            return last
        }
    }
}
