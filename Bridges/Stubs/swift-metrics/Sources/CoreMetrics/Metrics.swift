// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-metrics 2.7 that the bridge and its tests use, written from its documentation.

public protocol CounterHandler: AnyObject, Sendable {
    func increment(by amount: Int64)
    func reset()
}

public protocol FloatingPointCounterHandler: AnyObject, Sendable {
    func increment(by amount: Double)
    func reset()
}

public protocol MeterHandler: AnyObject, Sendable {
    func set(_ value: Int64)
    func set(_ value: Double)
    func increment(by amount: Double)
    func decrement(by amount: Double)
}

public protocol RecorderHandler: AnyObject, Sendable {
    func record(_ value: Int64)
    func record(_ value: Double)
}

public protocol TimerHandler: AnyObject, Sendable {
    func recordNanoseconds(_ duration: Int64)
}

public protocol MetricsFactory: Sendable {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler
    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler
    func destroyCounter(_ handler: any CounterHandler)
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler)
    func destroyMeter(_ handler: any MeterHandler)
    func destroyRecorder(_ handler: any RecorderHandler)
    func destroyTimer(_ handler: any TimerHandler)
}

public final class NOOPMetricsHandler: MetricsFactory, CounterHandler, FloatingPointCounterHandler, MeterHandler,
    RecorderHandler, TimerHandler
{
    public static let instance = NOOPMetricsHandler()

    private init() {}

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { self }
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { self }
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { self }
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { self }
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { self }
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
    public func increment(by amount: Int64) {}
    public func increment(by amount: Double) {}
    public func decrement(by amount: Double) {}
    public func reset() {}
    public func set(_ value: Int64) {}
    public func set(_ value: Double) {}
    public func record(_ value: Int64) {}
    public func record(_ value: Double) {}
    public func recordNanoseconds(_ duration: Int64) {}
}

public enum MetricsSystem {
    /// Nothing is bootstrapped here, so the factory is the one that does nothing.
    public static var factory: any MetricsFactory { NOOPMetricsHandler.instance }
}
