// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The interceptors of a client, from the caller to the wire.
///
///     let pipeline: Pipeline = [.logging(), .bearer { token }]     // exactly these, in this order
///     let pipeline = Pipeline.standard.adding(.bearer { token })   // inserted at its placement
///
/// `print(client)` shows the order of the interceptors and the configuration problems.
public struct Pipeline: Sendable, ExpressibleByArrayLiteral {
    /// The interceptors, from the caller to the transport. Interceptors that Curlew provides appear without their
    /// `BuiltInInterceptor`.
    public private(set) var interceptors: [any Interceptor]

    /// Creates a pipeline with exactly these interceptors, in this order.
    public init(_ interceptors: [any Interceptor]) {
        self.interceptors = interceptors.map(\.unwrapped)
        shareBudget()
    }

    /// Creates a pipeline with exactly these interceptors, in this order.
    public init(arrayLiteral elements: any Interceptor...) {
        self.init(elements)
    }

    /// A pipeline without interceptors: requests are sent directly to the transport.
    public static let empty = Pipeline([])

    /// Returns this pipeline with `interceptor` inserted at its placement, after existing interceptors of that
    /// placement.
    ///
    /// - `placement`: a placement that replaces the interceptor's own.
    /// - `changesPrincipal`: false if responses do not depend on the interceptor, so that caches and coalescing ignore
    ///   it. Nil leaves the decision to the interceptor, whose default principal is `.unknown`. See
    ///   `Interceptor.placed(at:changesPrincipal:)`.
    public func adding(
        _ interceptor: any Interceptor, at placement: Placement? = nil, changesPrincipal: Bool? = nil
    ) -> Pipeline {
        let interceptor = interceptor.placed(at: placement, changesPrincipal: changesPrincipal).unwrapped
        var copy = self
        let place = copy.interceptors.lastIndex { $0.placement <= interceptor.placement }.map { $0 + 1 } ?? 0
        copy.interceptors.insert(interceptor, at: place)
        copy.shareBudget()
        return copy
    }

    /// Returns this pipeline with `interceptor` in place of all interceptors of its placement:
    /// `Pipeline.standard.replacing(.retry(.attempts(5)))`.
    public func replacing(_ interceptor: any Interceptor) -> Pipeline {
        removing(interceptor.placement).adding(interceptor)
    }

    /// Returns this pipeline without the interceptors of one placement.
    public func removing(_ placement: Placement) -> Pipeline {
        Pipeline(interceptors.filter { $0.placement != placement })
    }

    /// Returns this pipeline without interceptors that attach credentials, wherever they are.
    func withoutCredentials() -> Pipeline {
        let secret: Set<Placement> = [.authentication, .signing]
        return Pipeline(interceptors.filter { secret.isDisjoint(with: [$0.placement, $0.plain.placement]) })
    }

    /// Returns the configuration errors of this pipeline in a client that `setup` describes, one sentence each. Empty
    /// if there are none.
    public func problems(in setup: Pipeline.Environment = Pipeline.Environment()) -> [String] {
        let setup = declared(in: setup)
        var found: [String] = []
        for problem in validating.compactMap({ $0.problem(in: setup) })
        where !found.contains(problem) { found.append(problem) }
        found += surplus
        if let budgetProblem { found.append(budgetProblem) }
        let placed = interceptors.filter { $0.placement != .custom }
        for (outer, inner) in zip(placed, placed.dropFirst()) where outer.placement > inner.placement {
            found.append(
                "\(outer.label) is left of \(inner.label), but works only right of it."
                    + " Swap them, or build the pipeline with adding(_:).")
        }
        return found
    }
}

extension Pipeline {
    /// Makes the interceptors that repeat requests share one budget. Interceptors whose budget the app specifies keep
    /// theirs.
    private mutating func shareBudget() {
        let paying = interceptors.compactMap(\.paying)
        guard paying.count > 1, let payer = paying.first(where: \.isBudgetChosen) ?? paying.first else { return }
        interceptors = interceptors.map { interceptor in
            guard let own = interceptor.paying, !own.isBudgetChosen, own.budget !== payer.budget else {
                return interceptor
            }
            let shared = own.paying(from: payer.budget)
            return (interceptor as? PlacedInterceptor)?.around(shared) ?? shared
        }
    }

    /// The error for interceptors that draw on different budgets; nil if there is none.
    private var budgetProblem: String? {
        let count = Set(interceptors.compactMap { $0.paying.map { ObjectIdentifier($0.budget) } }).count
        return count > 1
            ? "The interceptors that repeat calls use \(count) budgets. Pass the same RetryBudget to all of them." : nil
    }

    /// The errors for interceptors that occur more than once but must be unique, one sentence for each kind.
    private var surplus: [String] {
        var counts: [(kind: UniqueKind, count: Int)] = []
        for case let sole as any SoleInterceptor in interceptors.map(\.plain) {
            if let index = counts.firstIndex(where: { $0.kind == sole.uniqueKind }) {
                counts[index].count += 1
            } else {
                counts.append((sole.uniqueKind, 1))
            }
        }
        return counts.filter { $0.count > 1 }.map { kind, count in
            "The pipeline has \(count) \(kind.name), so \(kind.consequence)."
                + " Replace them by one with replacing(_:)."
        }
    }

    /// Returns `setup` with the declarations of the interceptors.
    func declared(in setup: Pipeline.Environment) -> Pipeline.Environment {
        validating.reduce(into: setup) { $1.declare(in: &$0) }
    }

    private var validating: [any ValidatingInterceptor] {
        interceptors.compactMap { $0.plain as? any ValidatingInterceptor }
    }

    /// Returns warnings about this pipeline over this transport, one sentence each. This method calls
    /// `principal(of:in:)` of the interceptors, so it is called only when the warnings are read, not when a client is
    /// created.
    func warnings(in setup: Pipeline.Environment, over transport: any Transport) -> [String] {
        let chain = Chain(interceptors, transport)
        // Places are those in the chain, which omits interceptors that only observe.
        let interceptors = chain.interceptors
        let context = ExchangeContext(clientOrigin: setup.clientOrigin)
        let preparing = Set(chain.preparing.map(\.place))
        let place = setup.clientOrigin.map { "\($0)" } ?? "https://example.invalid"
        let probe = try? HTTPRequest(.get, url: place + "/")
        return interceptors.enumerated().compactMap { place, interceptor in
            guard let validating = interceptor.plain as? any ValidatingInterceptor else { return nil }
            var setup = setup
            if let probe {
                let inner = interceptors.enumerated().filter { $0.offset > place && !preparing.contains($0.offset) }
                setup.strangers = inner.map(\.element)
                    .filter { $0.principal(of: probe, in: context) == .unknown }.map(\.label)
                if transport.principal(of: probe, in: context) == .unknown { setup.strangers.append(transport.label) }
            }
            return validating.warning(in: setup)
        }
    }
}

extension Pipeline {
    /// The properties of the client and of other interceptors with which an interceptor checks its configuration.
    public struct Environment: Sendable {
        /// The origin of the base URL, if the client has one.
        public var clientOrigin: Origin?
        /// The total timeout of a call; nil without a limit, or when it is not known.
        public var totalTimeout: Duration?
        /// The timeout of one attempt in the pipeline; nil without a separate limit.
        public var attemptTimeout: Duration?
        /// The names of the interceptors closer to the transport, and of the transport, that have no known principal.
        /// Set for `ValidatingInterceptor.warning(in:)` only.
        public internal(set) var strangers: [String] = []
        /// The declarations about fields, query items, members and paths: those of the client's configuration, to which
        /// `ValidatingInterceptor.declare(in:)` adds the names that an interceptor attaches. They decide which values
        /// descriptions redact and which fields redirects forward.
        public var fields: FieldRules

        /// Creates an environment. Without arguments, nothing is known about the client.
        public init(clientOrigin: Origin? = nil, totalTimeout: Duration? = nil, fields: FieldRules = FieldRules()) {
            self.clientOrigin = clientOrigin
            self.totalTimeout = totalTimeout
            self.fields = fields
        }
    }
}

extension Pipeline: CustomStringConvertible {
    /// The names of the interceptors in order, and the transport: `logging → bearer → transport`.
    public var description: String {
        (interceptors.map(\.label) + ["transport"]).joined(separator: " → ")
    }
}
