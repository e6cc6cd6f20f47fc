// SPDX-License-Identifier: MIT

public import CurlewCore
package import CurlewHTTP

/// The interceptor of `.coalescing()`, where its rules are documented.
package struct CoalescingInterceptor: ValidatingInterceptor {
    /// Fields that do not distinguish requests.
    public let ignored: Set<HTTPField.Name>

    private let exchanges = SharedExchanges()
    private let skipped: Set<HTTPField.Name>

    /// Creates an interceptor. Its copies share their exchanges.
    public init(ignoring fields: Set<HTTPField.Name> = []) {
        ignored = fields
        skipped = fields.union(HTTPField.Name.tracing)
    }

    /// `.coalescing`.
    public var placement: Placement { .coalescing }

    /// False: a preview has nothing to share.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it attaches nothing, and shares only among calls of one principal.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Names the interceptors that prevent calls from sharing an exchange.
    public func warning(in setup: Pipeline.Environment) -> String? {
        guard !setup.strangers.isEmpty else { return nil }
        return "\(self) shares nothing, because \(setup.strangers.inWords) cannot name the principal of a call. "
            + "Name the user (principal:), or pass changesPrincipal: false where no response depends on it."
    }

    /// Joins the exchange of an identical request, or begins one.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method.isSafe else {
            defer { exchanges.close(request.origin) }
            return try await next(request)
        }
        await next.prepare()
        // A request is sent again only if the principal of its exchange has changed.
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

extension CoalescingInterceptor: CustomStringConvertible {
    /// `Coalescing`
    public var description: String { "Coalescing" }
}

extension RequestOptions {
    /// Whether the call may share the exchange of an identical one if the client has `.coalescing()`. Default true.
    public var coalesces: Bool {
        get { self[CoalescesKey.self] }
        set { self[CoalescesKey.self] = newValue }
    }
}

private enum CoalescesKey: CallOptionKey {
    static let defaultValue = true
}
