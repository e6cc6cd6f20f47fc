// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The interceptors of a client, from the caller to the wire.
///
///     let pipeline: Pipeline = [.logging(), .bearer { token }]     // exactly these, in this order
///     let pipeline = Pipeline.standard.adding(.bearer { token })   // inserted at its placement
///
/// If an order contradicts the placements, every call throws `.configuration`; `.custom` interceptors may have any
/// position. `print(client)` shows the order of the interceptors and the configuration problems.
public struct Pipeline: Sendable, ExpressibleByArrayLiteral {
    /// The interceptors with their descriptions, from the caller to the transport.
    private(set) var entries: [Entry]

    /// Creates a pipeline with exactly these interceptors, in this order.
    public init(_ interceptors: [any Interceptor]) {
        self.init(entries: interceptors.map(Entry.init))
    }

    init(entries: [Entry]) {
        self.entries = entries
    }

    /// Creates a pipeline with exactly these interceptors, in this order.
    public init(arrayLiteral elements: any Interceptor...) {
        self.init(elements)
    }

    /// A pipeline without interceptors: requests are sent directly to the transport.
    public static let empty: Pipeline = []

    /// Returns this pipeline with `interceptor` inserted at its placement, after the interceptors that have it already.
    ///
    /// - `placement`: a placement that replaces the interceptor's own. Default nil: its own.
    /// - `changesPrincipal`: false if responses do not depend on the interceptor, so that caches and coalescing ignore
    ///   it. With true, those closer to the caller store and share nothing. Nil, the default, leaves the decision to
    ///   the interceptor (`InterceptorTraits.principal`).
    public func adding(
        _ interceptor: any Interceptor, at placement: Placement? = nil, changesPrincipal: Bool? = nil
    ) -> Pipeline {
        var entry = Entry(interceptor)
        entry.change(placement, changesPrincipal: changesPrincipal)
        return inserting(entry)
    }

    /// Returns this pipeline with `interceptor` in place of all interceptors of its placement:
    /// `Pipeline.standard.replacing(.retry(.attempts(5)))`.
    public func replacing(_ interceptor: any Interceptor) -> Pipeline {
        let entry = Entry(interceptor)
        return removing(entry.placement).inserting(entry)
    }

    private func inserting(_ entry: Entry) -> Pipeline {
        var copy = self
        let index = entries.lastIndex { $0.placement <= entry.placement }.map { $0 + 1 } ?? 0
        copy.entries.insert(entry, at: index)
        return copy
    }

    /// Returns this pipeline without the interceptors at `placement`.
    public func removing(_ placement: Placement) -> Pipeline {
        Pipeline(entries: entries.filter { $0.placement != placement })
    }

    /// Returns this pipeline for a client of another origin than `home`: without the interceptors that attach
    /// credentials, and with the additions that belong to the client's origin still restricted to `home`.
    func moved(from home: Origin?) -> Pipeline {
        var moved = Pipeline(entries: entries.filter { !$0.attachesCredentials })
        guard let home else { return moved }
        for index in moved.entries.indices where moved.entries[index].traits.scope == .clientOrigin {
            moved.entries[index].traits.scope = .origin(home)
        }
        return moved
    }

    /// Returns the configuration errors of this pipeline in a client that `setup` describes, one sentence each. Empty
    /// if there are none.
    func problems(in setup: Pipeline.Environment = Pipeline.Environment()) -> [String] {
        let setup = declared(in: setup)
        var found: [String] = []
        for problem in entries.compactMap({ $0.traits.problem?(setup) })
        where !found.contains(problem) { found.append(problem) }
        found += surplus
        if let budgetProblem { found.append(budgetProblem) }
        let placed = entries.filter { $0.placement != .custom }
        for (outer, inner) in zip(placed, placed.dropFirst()) where outer.placement > inner.placement {
            found.append(
                "\(outer.label) is left of \(inner.label), but works only right of it."
                    + " Swap them, or build the pipeline with adding(_:).")
        }
        return found
    }
}

extension Pipeline {
    /// The error for interceptors that draw on different budgets; nil if there is none.
    private var budgetProblem: String? {
        let chosen = entries.compactMap(\.traits.budget).filter(\.isChosen)
        return chosen.contains { $0.value !== chosen[0].value }
            ? "The interceptors that repeat calls use several budgets. Pass the same RetryBudget to all of them." : nil
    }

    /// The errors for interceptors that occur more than once but must be unique, one sentence for each kind.
    private var surplus: [String] {
        let kinds = entries.compactMap(\.traits.uniqueKind)
        return kinds.indices.compactMap { index in
            let kind = kinds[index]
            let count = kinds[index...].filter { $0.name == kind.name }.count
            guard count > 1, !kinds[..<index].contains(where: { $0.name == kind.name }) else { return nil }
            return "The pipeline has \(count) \(kind.name), so \(kind.consequence)."
                + " Replace them by one with replacing(_:)."
        }
    }

    /// Returns `setup` with the declarations of the interceptors.
    func declared(in setup: Pipeline.Environment) -> Pipeline.Environment {
        entries.reduce(into: setup) { setup, entry in
            setup.fields.formUnion(entry.traits.fields)
            guard let limit = entry.traits.attemptTimeout else { return }
            setup.attemptTimeout = min(limit, setup.attemptTimeout ?? limit)
        }
    }

    /// Returns warnings about this pipeline over this transport, one sentence each. This method calls `principal` of
    /// the interceptors, so it runs only when the warnings are read, not when a client is created.
    func warnings(in setup: Pipeline.Environment, over transport: any Transport) -> [String] {
        let context = ExchangeContext(clientOrigin: setup.clientOrigin)
        let origin = setup.clientOrigin.map { "\($0)" } ?? "https://example.invalid"
        let probe = try? HTTPRequest(.get, url: origin + "/")
        return entries.enumerated().compactMap { index, entry in
            guard let warning = entry.traits.warning else { return nil }
            var setup = setup
            if let probe {
                // Whether a principal is known that must be prepared turns out with the first call.
                setup.unknownPrincipals = entries[(index + 1)...]
                    .filter { $0.traits.prepare == nil && $0.traits.principal(probe, context) == .unknown }
                    .map(\.label)
                if transport.principal(of: probe, in: context) == .unknown {
                    setup.unknownPrincipals.append(transport.label)
                }
            }
            return warning(setup)
        }
    }

    /// What an interceptor learns about the client and the other interceptors to check its configuration
    /// (`InterceptorTraits.problem`).
    public struct Environment: Sendable {
        /// The origin of the client's base URL; nil if it has none.
        public var clientOrigin: Origin?
        /// The total timeout of the client's calls; nil without a limit, or when it is not known.
        public var totalTimeout: Duration?
        /// The shortest limit of one attempt that an interceptor sets, as `.attemptTimeout(_:)` does; nil if none does.
        public var attemptTimeout: Duration?
        /// The names of the interceptors closer to the transport, and of the transport, that have no known principal.
        /// Set for `InterceptorTraits.warning` only.
        package internal(set) var unknownPrincipals: [String] = []
        /// The declarations about fields, query items, members and paths: those of the client's configuration and of
        /// all interceptors (`InterceptorTraits.fields`). They decide which values descriptions redact and which fields
        /// redirects forward.
        var fields = Redaction.Rules()
    }
}

extension Pipeline: CustomStringConvertible {
    /// The names of the interceptors in order, and the transport: `Redirects → Retry → transport`.
    public var description: String {
        (entries.map(\.label) + ["transport"]).joined(separator: " → ")
    }
}

extension Pipeline {
    /// An interceptor with its description, as a pipeline stores it.
    struct Entry: Sendable {
        let interceptor: any Interceptor
        /// The traits of the interceptor, as edited by `adding`.
        var traits: InterceptorTraits
        /// Whether the interceptor attaches credentials, according to its original or its changed placement.
        private(set) var attachesCredentials: Bool

        init(_ interceptor: any Interceptor) {
            self.interceptor = (interceptor as? BuiltInInterceptor)?.base ?? interceptor
            traits = interceptor.traits
            attachesCredentials = traits.placement.isForCredentials
        }

        var placement: Placement { traits.placement }
        var label: String { interceptor.label }

        /// Changes the placement, and the principal as `Pipeline.adding` describes it. Nil changes nothing.
        mutating func change(_ placement: Placement?, changesPrincipal: Bool?) {
            if let placement {
                traits.placement = placement
                attachesCredentials = attachesCredentials || placement.isForCredentials
            }
            if let changesPrincipal {
                traits.principal = { _, _ in changesPrincipal ? .unknown : .anonymous }
                // With a declared effect on responses, it stays in the chain for that.
                if changesPrincipal { traits.onlyObserves = false }
            }
        }
    }
}

extension Placement {
    fileprivate var isForCredentials: Bool { self == .authentication || self == .signing }
}
