// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Shares one exchange among identical safe requests that are in flight at the same time.
///
///     Pipeline.standard.adding(.coalescing())                      // for a client
///     .get("/report").options { $0.coalesces = false }             // not for this call
///
/// A thousand identical calls send one request, and each receives the same bytes. The interceptor is outside of the
/// cache, so the response to a burst of misses is stored once.
///
/// Which calls share an exchange:
/// - Calls with safe methods (RFC 9110 §9.2.1) and no body, unless the call streams (`options.streaming`), requests a
///   protocol upgrade, or sets `options.coalesces = false`.
/// - Calls that agree in method, URL, all header fields except the ignored ones, the principal (`Next.principal(of:)`;
///   calls with an unknown principal do not share), the choice of the credential, limits and timeouts (except the total
///   one), and every other option that may change the response. `Range`, conditions and cookies are header fields. An
///   option of an extension must be `Hashable`; otherwise its calls do not share. Clients with different interceptors
///   never share, even if they have this interceptor in common.
/// - A call joins only while there is no response: no call receives a response that arrived before the call began. Once
///   a request with an unsafe method has ended, new calls to its origin do not join exchanges that began before, so
///   they see its changes.
///
/// What remains separate for each call:
/// - Cancellation and deadline: the call leaves, and the others are not affected. The exchange runs on a separate task,
///   with the highest task priority of the waiting calls, and is cancelled when the last call has left. It has no total
///   deadline; connect, first-byte and idle timeouts are counted from its beginning.
/// - Priority: a call with a higher `options.priority` than the exchange does not wait for it, but begins a new
///   exchange that later calls join.
/// - Events: the call records `ExchangeEvent.joined` instead of the events of a request.
///
/// An error of the exchange is thrown to all its calls.
///
/// Responses that arrive whole are shared: transports collect bodies up to 1 MiB before they return them. A body that
/// is still arriving has one reader, a call that joined early; each of the other calls sends a separate request.
///
/// Interceptors further in run once, with the task-local values of the call that began the exchange. What they add must
/// depend only on the request, the client and the principal.
public struct CoalescingInterceptor: ValidatingInterceptor {
    /// Fields that do not distinguish requests, besides those that identify a request or a trace. Default none.
    ///
    /// The values of these fields must select neither a response nor a user. Has no effect on fields in
    /// `HTTPField.Name.isSensitive` or `RedirectPolicy.secretHeaders`.
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
    public func warning(in setup: PipelineSetup) -> String? {
        guard !setup.strangers.isEmpty else { return nil }
        return "\(self) shares nothing, because \(setup.strangers.inWords) cannot tell whose answer a call gets. "
            + "Name the user (principal:), or say changesWhoseAnswer: false where no answer depends on it."
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
            case .anew: continue
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

enum CoalescesKey: RequestOptionKey {
    static let defaultValue = true
}
