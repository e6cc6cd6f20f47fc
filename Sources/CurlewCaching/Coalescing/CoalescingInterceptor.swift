// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Shares one exchange among identical safe requests. For the rules, see `.coalescing(ignoring:)`.
struct CoalescingInterceptor: Interceptor {
    private let exchanges = SharedExchanges()
    /// The fields in which requests may differ and still share an exchange.
    private let skipped: Set<HTTPField.Name>

    init(ignoring fields: Set<HTTPField.Name> = []) {
        skipped = fields.union(HTTPField.Name.tracing)
    }

    /// The principal is `.anonymous`, because the interceptor attaches nothing, and shares an exchange only among calls
    /// of one principal.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(.coalescing)
        traits.warning = warning(in:)
        traits.uniqueKind = ("coalescings", "the inner one never sees two equal calls")
        return traits
    }

    /// Returns a warning if no calls share an exchange because the principal of some interceptors is unknown; nil if
    /// there are no such interceptors. The warning names them.
    private func warning(in setup: Pipeline.Environment) -> String? {
        guard !setup.unknownPrincipals.isEmpty else { return nil }
        return
            "Coalescing shares nothing, because \(setup.unknownPrincipals.inWords) cannot name the principal of a call. "
            + "Name the user (principal:), or pass changesPrincipal: false where no response depends on it."
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method.isSafe else {
            defer { exchanges.close(request.origin) }
            return try await next(request)
        }
        if next.context.options.isLive { return try await next(request) }
        await next.prepare()
        // Another round begins only if the principal has changed during the exchange.
        for _ in 0..<3 {
            guard let key = CoalescingKey(request, next, ignoring: skipped) else { break }
            switch try await shared(request, next, key) {
            case .response(let response): return response
            case .retry: continue
            case .alone: return try await next(request)
            }
        }
        return try await next(request)
    }

    private func shared(
        _ request: HTTPRequest, _ next: Next, _ key: CoalescingKey
    ) async throws -> SharedExchangeState.Outcome {
        let context = next.context
        let (exchange, ticket, isFirst) = exchanges.join(key, context) {
            SharedExchange(
                id: context.id, origin: request.origin, priority: context.options.priority ?? .normal,
                time: context.time, closed: { [exchanges] in exchanges.remove(key, $0) })
        }
        if isFirst {
            let isStill: @Sendable () -> Bool = { [skipped] in
                CoalescingKey.principal(of: request, next, ignoring: skipped) == key.principal
            }
            exchange.begin(request, next, whilePrincipal: isStill)
        } else {
            context.record(.joined(exchange.id))
        }
        return try await exchange.outcome(for: ticket, context)
    }
}

extension RequestOptions {
    /// Whether the call may share the exchange of an identical call if the client has `.coalescing()`. Default true.
    public var coalesces: Bool {
        get { self[CoalescesKey.self] }
        set { self[CoalescesKey.self] = newValue }
    }
}

private enum CoalescesKey: CallOptionKey {
    static let defaultValue = true
}
