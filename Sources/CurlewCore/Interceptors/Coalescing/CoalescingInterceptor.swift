// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Lets identical safe requests that are under way at the same time share one exchange.
///
///     Pipeline.standard.adding(.coalescing())                      // a client's
///     .get("/report").options { $0.coalesces = false }             // not this call
///
/// A thousand calls for the same thing are one request, and each of them gets the same bytes. Put outside the cache, a
/// burst of misses is stored once.
///
/// Which calls share:
/// - Safe methods (RFC 9110 §9.2.1) without a body, unless the call streams (`options.streaming`), asks for a protocol
///   upgrade, or says `options.coalesces = false`.
/// - Those that agree in method, URL, all header fields but the ignored ones, the principal (`Next.principal(of:)`; one
///   that is unknown shares with nobody), the choice of the credential, limits and timeouts (the total one aside), and
///   every other option that may change the answer. `Range`, conditions and cookies are header fields. An option of an
///   extension has to be `Hashable`; calls with another kind do not share. Clients with other interceptors never share,
///   also when they have this one in common.
/// - A call joins only while there is no answer: nobody gets one that was there before the call began. Once a request
///   that is not safe has ended, calls to its origin join nothing that began before, so they see what it wrote.
///
/// What each call keeps:
/// - Its cancellation and its deadline: it leaves, and the others notice nothing. The exchange runs on a task of its
///   own, with the highest task priority of those that wait, and is cancelled when the last one has left. It has no
///   total deadline; connect, first-byte and idle timeouts are counted from its beginning.
/// - Its place: a call with a higher `options.priority` than the exchange has does not wait behind it, but begins one
///   that later calls join.
/// - Its events: it records `ExchangeEvent.joined` in place of those of a request of its own.
///
/// An error of the exchange is an error of all.
///
/// Responses that arrive whole are shared: transports collect bodies up to 1 MiB before they hand them over. A body that
/// still arrives has one reader, a call that joined early; the other calls ask anew, each for itself.
///
/// Interceptors further in run once, in the task-local values of the call that began. What they add must follow from the
/// request, the client and the principal alone.
public struct CoalescingInterceptor: ValidatingInterceptor {
    /// Fields that do not tell requests apart, besides those that name a request or a trace. Default none.
    ///
    /// The values of a field that is named here select neither a response nor a user. Has no effect for what
    /// `HTTPField.Name.isSensitive` or `RedirectPolicy.secretHeaders` names.
    public let ignored: Set<HTTPField.Name>

    private let exchanges = SharedExchanges()
    private let skipped: Set<HTTPField.Name>

    /// An interceptor with exchanges of its own, which its copies share.
    public init(ignoring fields: Set<HTTPField.Name> = []) {
        ignored = fields
        skipped = fields.union(HTTPField.Name.tracing)
    }

    /// `.coalescing`.
    public var placement: Placement { .coalescing }

    /// False: there is nothing to share.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it attaches nothing, and shares only among calls of one principal.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Names who keeps calls from sharing an exchange.
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
        // Sent again are only those whose exchange turned out to be another party's.
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
    /// Whether the call may share the exchange of an identical one, where the client has `.coalescing()`. Default true.
    public var coalesces: Bool {
        get { self[CoalescesKey.self] }
        set { self[CoalescesKey.self] = newValue }
    }
}

enum CoalescesKey: RequestOptionKey {
    static let defaultValue = true
}
