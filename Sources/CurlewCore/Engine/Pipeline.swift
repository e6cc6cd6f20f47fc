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
    }

    /// A pipeline in exactly this order.
    public init(arrayLiteral elements: any Interceptor...) {
        self.init(elements)
    }

    /// No interceptors: requests go straight to the transport.
    public static let empty = Pipeline([])

    /// This pipeline with `interceptor` at its placement, behind those that are there already.
    public func adding(_ interceptor: any Interceptor) -> Pipeline {
        var copy = self
        let place = copy.interceptors.lastIndex { $0.placement <= interceptor.placement }.map { $0 + 1 } ?? 0
        copy.interceptors.insert(interceptor, at: place)
        return copy
    }

    /// This pipeline without the interceptors of one place.
    public func removing(_ placement: Placement) -> Pipeline {
        Pipeline(interceptors.filter { $0.placement != placement })
    }

    /// What cannot work in this order and with this client, one sentence each. Empty when all is well.
    public func problems(in setup: PipelineSetup = PipelineSetup()) -> [String] {
        var found = interceptors.compactMap { $0.problem(in: setup) }
        let placed = interceptors.filter { $0.placement != .custom }
        for (outer, inner) in zip(placed, placed.dropFirst()) where outer.placement > inner.placement {
            found.append(
                "\(outer.label) stands left of \(inner.label), but works only right of it."
                    + " Swap them, or build the pipeline with adding(_:).")
        }
        return found
    }
}

/// What an interceptor may know of the client when it checks how it is set up.
public struct PipelineSetup: Sendable {
    /// The origin of the base URL, if the client has one.
    public var clientOrigin: Origin?

    /// A setup to check against.
    public init(clientOrigin: Origin? = nil) {
        self.clientOrigin = clientOrigin
    }
}

extension Pipeline: CustomStringConvertible {
    /// `logging → bearer → transport`
    public var description: String {
        (interceptors.map(\.label) + ["transport"]).joined(separator: " → ")
    }
}
