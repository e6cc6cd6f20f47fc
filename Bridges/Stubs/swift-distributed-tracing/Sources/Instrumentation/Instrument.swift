// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-distributed-tracing 1.3 that the bridge and its tests use, written from its documentation.

public import ServiceContextModule
import Synchronization

public protocol Extractor: Sendable {
    associatedtype Carrier: Sendable
    func extract(key: String, from carrier: Carrier) -> String?
}

public protocol Injector: Sendable {
    associatedtype Carrier: Sendable
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Instrument: Sendable {
    func extract<Carrier, Extract>(_ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
    where Extract: Extractor, Extract.Carrier == Carrier

    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier
}

public struct NoOpInstrument: Instrument {
    public init() {}

    public func extract<Carrier, Extract>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {}

    public func inject<Carrier, Inject>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {}
}

public enum InstrumentationSystem {
    private static let installed = Mutex<(any Instrument)?>(nil)

    public static func bootstrap(_ instrument: any Instrument) {
        installed.withLock { $0 = instrument }
    }

    public static var instrument: any Instrument { installed.withLock { $0 } ?? NoOpInstrument() }
}
