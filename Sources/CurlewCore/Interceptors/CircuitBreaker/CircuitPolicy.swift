// SPDX-License-Identifier: MIT

/// When a circuit opens, and for how long. <doc:Resilience> shows what the defaults do under load.
///
///     .circuitBreaker(CircuitPolicy(failureRatio: 0.3, slowCall: .seconds(2)))
public struct CircuitPolicy: Hashable, Sendable {
    /// The share of failed calls in the window that opens the circuit. Default one half, as Hystrix and resilience4j.
    public var failureRatio: Double
    /// Fewer calls than this in the window say nothing. Default 20, as Hystrix.
    public var minimumCalls: Int
    /// How far back calls count, in steps of a tenth. Default 30 s, as Polly.
    public var window: Duration
    /// From which time on a call counts as slow, measured to the head of the answer without waits for limits. Default
    /// nil: time does not matter.
    public var slowCall: Duration?
    /// The share of slow calls in the window that opens the circuit. Default one half.
    public var slowRatio: Double
    /// How long the circuit stays open the first time; between half of it and the whole, at random, so that many clients
    /// do not come back in one moment. Default 5 s, as Polly and Hystrix.
    public var openTime: Duration
    /// What the open time is multiplied by each time that a trial fails. Default 2.
    public var openGrowth: Double
    /// The longest that the circuit stays open. Default 60 s, as resilience4j.
    public var longestOpenTime: Duration
    /// When a trial that has not ended makes room for another one. Default 30 s.
    public var trialTime: Duration
    /// How many trials may be under way when the circuit becomes half-open. Each success makes room for one more. Default 1,
    /// as Polly.
    public var trials: Int
    /// How many trials have to succeed until the circuit closes. Default 1, as Polly. With 20 the load of a server that comes
    /// back grows from one call at a time to twenty, and then all pass.
    public var successes: Int
    /// Whether 429 counts as a failure. Default false: the server is well and wants less, which `.rateLimit` learns.
    public var countsTooManyRequests: Bool
    /// How many origins, or other scopes, are remembered; the one that has not been used for longest makes room. Default 256.
    public var origins: Int

    /// A policy with the defaults where nothing is said.
    public init(
        failureRatio: Double = 0.5, minimumCalls: Int = 20, window: Duration = .seconds(30), slowCall: Duration? = nil,
        slowRatio: Double = 0.5, openTime: Duration = .seconds(5), openGrowth: Double = 2,
        longestOpenTime: Duration = .seconds(60), trialTime: Duration = .seconds(30),
        trials: Int = 1, successes: Int = 1, countsTooManyRequests: Bool = false, origins: Int = 256
    ) {
        self.failureRatio = failureRatio
        self.minimumCalls = minimumCalls
        self.window = window
        self.slowCall = slowCall
        self.slowRatio = slowRatio
        self.openTime = openTime
        self.openGrowth = openGrowth
        self.longestOpenTime = longestOpenTime
        self.trialTime = trialTime
        self.trials = trials
        self.successes = successes
        self.countsTooManyRequests = countsTooManyRequests
        self.origins = origins
    }

    /// Half of at least 20 calls in 30 s; open for 5 s, then twice as long each time, at most 60 s.
    public static let standard = CircuitPolicy()

    /// What cannot work, in one sentence.
    var problem: String? {
        let ratios = 0.0...1
        guard ratios.contains(failureRatio), failureRatio > 0, ratios.contains(slowRatio), slowRatio > 0 else {
            return "The circuit breaker's ratios are shares of the calls: above 0, at most 1."
        }
        guard minimumCalls > 0, origins > 0, trials > 0, successes > 0 else {
            return "The circuit breaker's minimumCalls, trials, successes and origins have to be at least one."
        }
        guard window >= .milliseconds(10), openTime > .zero, longestOpenTime > .zero, trialTime > .zero else {
            return "The circuit breaker's times have to be positive, its window at least 10 ms."
        }
        return openGrowth >= 1 ? nil : "The circuit breaker's openGrowth has to be at least 1."
    }

    /// How long the circuit is open for the `opening`-th time in a row.
    func openTime(_ opening: Int, using random: inout some RandomNumberGenerator) -> Duration {
        // Not a product of a `Duration`, which ends the process where it leaves its range.
        let most = longestOpenTime.wholeNanoseconds
        let longest = Double(most)
        let first: Duration = min(openTime, longestOpenTime)
        var whole = Double(first.wholeNanoseconds)
        for _ in 1..<max(1, min(opening, 64)) where whole < longest {
            whole = min(whole * openGrowth, longest)
        }
        let drawn = whole * Double.random(in: 0.5...1, using: &random)
        return .nanoseconds(Int64(exactly: drawn.rounded()) ?? most)
    }
}
