// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The interceptors of a client, from the caller to the wire.
///
///     let pipeline: Pipeline = [.logging(), .bearer { token }]     // exactly these, in this order
///     let pipeline = Pipeline.standard.adding(.bearer { token })   // put in its place
///
/// `print(client)` shows the order in force and what is wrong with it.
public struct Pipeline: Sendable, ExpressibleByArrayLiteral {
    /// From the caller to the wire.
    public private(set) var interceptors: [any Interceptor]

    /// A pipeline in exactly this order.
    public init(_ interceptors: [any Interceptor]) {
        self.interceptors = interceptors
        shareBudget()
    }

    /// A pipeline in exactly this order.
    public init(arrayLiteral elements: any Interceptor...) {
        self.init(elements)
    }

    /// No interceptors: requests go straight to the transport.
    public static let empty = Pipeline([])

    /// This pipeline with `interceptor` at its placement, behind those that are there already.
    ///
    /// - `placement`: another place than the interceptor's own.
    /// - `changesWhoseAnswer`: false if no answer depends on what it does, so that caches and coalescing work around it.
    ///   Nil leaves that to the interceptor, which by default cannot tell. See
    ///   `Interceptor.placed(at:changesWhoseAnswer:)`.
    public func adding(
        _ interceptor: any Interceptor, at placement: Placement? = nil, changesWhoseAnswer: Bool? = nil
    ) -> Pipeline {
        let interceptor = interceptor.placed(at: placement, changesWhoseAnswer: changesWhoseAnswer)
        var copy = self
        let place = copy.interceptors.lastIndex { $0.placement <= interceptor.placement }.map { $0 + 1 } ?? 0
        copy.interceptors.insert(interceptor, at: place)
        copy.shareBudget()
        return copy
    }

    /// This pipeline with `interceptor` instead of all that stand at its placement:
    /// `Pipeline.standard.replacing(.retry(.attempts(5)))`.
    public func replacing(_ interceptor: any Interceptor) -> Pipeline {
        removing(interceptor.placement).adding(interceptor)
    }

    /// This pipeline without the interceptors of one place.
    public func removing(_ placement: Placement) -> Pipeline {
        Pipeline(interceptors.filter { $0.placement != placement })
    }

    /// This pipeline without what attaches credentials, wherever it stands.
    func withoutCredentials() -> Pipeline {
        Pipeline(
            interceptors.filter { interceptor in
                let base = (interceptor as? PlacedInterceptor)?.base ?? interceptor
                return ![interceptor.placement, base.placement].contains { $0 == .authentication || $0 == .signing }
            })
    }

    /// What cannot work in this order and with this client, one sentence each. Empty when all is well.
    public func problems(in setup: PipelineSetup = PipelineSetup()) -> [String] {
        let setup = declared(in: setup)
        var found: [String] = []
        for problem in validating.compactMap({ $0.problem(in: setup) }) + setup.problems
        where !found.contains(problem) { found.append(problem) }
        found += surplus
        let placed = interceptors.filter { $0.placement != .custom }
        for (outer, inner) in zip(placed, placed.dropFirst()) where outer.placement > inner.placement {
            found.append(
                "\(outer.label) stands left of \(inner.label), but works only right of it."
                    + " Swap them, or build the pipeline with adding(_:).")
        }
        return found
    }
}

extension Pipeline {
    /// Gives all that repeats calls one budget, unless the app has named several.
    private mutating func shareBudget() {
        let paying = interceptors.compactMap(\.paying)
        guard paying.count > 1, let payer = paying.first(where: \.isPurseChosen) ?? paying.first else { return }
        interceptors = interceptors.map { interceptor in
            guard let own = interceptor.paying, !own.isPurseChosen, own.purse !== payer.purse else {
                return interceptor
            }
            let shared = own.paying(from: payer.purse)
            return (interceptor as? PlacedInterceptor)?.around(shared) ?? shared
        }
    }

    /// What stands here more than once and must not, one sentence each.
    private var surplus: [String] {
        var counts: [(kind: SoleKind, count: Int)] = []
        for case let sole as any SoleInterceptor in interceptors.map(\.plain) {
            if let index = counts.firstIndex(where: { $0.kind == sole.soleKind }) {
                counts[index].count += 1
            } else {
                counts.append((sole.soleKind, 1))
            }
        }
        return counts.filter { $0.count > 1 }.map { kind, count in
            "There are \(count) \(kind.name), so that \(kind.consequence)."
                + " Put one in place of the others with replacing(_:)."
        }
    }

    /// `setup` with what the interceptors tell of themselves.
    func declared(in setup: PipelineSetup) -> PipelineSetup {
        validating.reduce(into: setup) { $1.declare(in: &$0) }
    }

    private var validating: [any ValidatingInterceptor] {
        interceptors.compactMap { $0 as? any ValidatingInterceptor }
    }

    /// What works over this transport, but hardly as it was meant, one sentence each. Asks interceptors whose credential
    /// they would attach, so it is made for people who look, not for each client.
    func warnings(in setup: PipelineSetup, over transport: any Transport) -> [String] {
        let chain = Chain(interceptors, transport)
        let context = ExchangeContext(clientOrigin: setup.clientOrigin)
        let preparing = Set(chain.preparing.map(\.place))
        let place = setup.clientOrigin.map { "\($0)" } ?? "https://example.invalid"
        let probe = try? HTTPRequest(.get, url: place + "/")
        return interceptors.enumerated().compactMap { place, interceptor in
            guard let validating = interceptor as? any ValidatingInterceptor else { return nil }
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

/// What an interceptor may know of the client and of the others when it checks how it is set up.
public struct PipelineSetup: Sendable {
    /// The origin of the base URL, if the client has one.
    public var clientOrigin: Origin?
    /// How long a whole call may take; nil without a limit, or when it is not known.
    public var totalTimeout: Duration?
    /// How long one attempt may take, as the pipeline says; nil without a limit of its own.
    public var attemptTimeout: Duration?
    /// Who further in cannot tell whose credential it attaches, by its name: interceptors, and the transport. Filled
    /// where `ValidatingInterceptor.warning(in:)` is asked.
    public internal(set) var strangers: [String] = []
    /// What is declared of fields, query items, members and paths: what the client's configuration says, to which
    /// `ValidatingInterceptor.declare(in:)` adds the names of what an interceptor attaches. Counts for texts and redirects.
    public var fields: FieldRules
    /// How many interceptors try again.
    package var retries = 0
    /// The budgets from which repetitions are paid.
    package var budgets: Set<ObjectIdentifier> = []

    /// A setup to check against.
    public init(clientOrigin: Origin? = nil, totalTimeout: Duration? = nil, fields: FieldRules = FieldRules()) {
        self.clientOrigin = clientOrigin
        self.totalTimeout = totalTimeout
        self.fields = fields
    }

    /// What is wrong with the whole rather than with one interceptor.
    var problems: [String] {
        guard budgets.count > 1 else { return [] }
        return ["What repeats calls draws on \(budgets.count) budgets. Give all of it one RetryBudget."]
    }
}

extension Pipeline: CustomStringConvertible {
    /// `logging → bearer → transport`
    public var description: String {
        (interceptors.map(\.label) + ["transport"]).joined(separator: " → ")
    }
}
