// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewObservability

@Suite(.timeLimit(.minutes(1)))
struct HistogramTests {
    typealias Histogram = MetricsRegistry.Histogram

    @Test("Counts, sum and quantiles agree with the exact values")
    func property() throws {
        let seed = UInt64.random(in: 0...(.max))
        print("HistogramTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            var histogram = Histogram(bounds: Histogram.seconds)
            let exponent = Double.random(in: -4...2, using: &random)
            let values = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                // Some values equal a bound.
                Int.random(in: 0..<5, using: &random) == 0
                    ? Histogram.seconds.randomElement(using: &random) ?? 1
                    : Double.random(in: 0...1, using: &random) * 10 * (exponent < 0 ? 0.01 : exponent)
            }
            for value in values { histogram.add(value) }
            let sorted = values.sorted()
            #expect(histogram.count == UInt64(values.count), "seed \(seed), round \(round)")
            #expect(histogram.minimum == sorted.first && histogram.maximum == sorted.last, "seed \(seed)")
            #expect(abs(histogram.sum - values.reduce(0, +)) < 1e-6, "seed \(seed), round \(round)")
            for share in [0, 0.01, 0.5, 0.9, 0.95, 0.99, 1] {
                let rank = max(1, Int((Double(values.count) * share).rounded(.up)))
                let exact = sorted[rank - 1]
                let estimate = try #require(histogram.quantile(share))
                #expect(
                    bucket(of: estimate) == bucket(of: exact), "seed \(seed), round \(round), \(share): \(estimate)")
                #expect(estimate >= sorted[0] && estimate <= sorted[sorted.count - 1], "seed \(seed), round \(round)")
            }
        }
    }

    private func bucket(of value: Double) -> Int {
        Histogram.seconds.firstIndex { value <= $0 } ?? Histogram.seconds.count
    }

    @Test("A value that equals a bound is below it; values that are no numbers are ignored")
    func bounds() {
        var histogram = Histogram(bounds: [2, 1, .nan, 2, .infinity])
        #expect(histogram.bounds == [1, 2])
        #expect(histogram.quantile(0.5) == nil && histogram.minimum == nil)
        for value in [1, 1.5, 2, 3, .nan] { histogram.add(value) }
        #expect(histogram.counts == [1, 2, 1])
        #expect(histogram.count == 4 && histogram.sum == 7.5 && histogram.maximum == 3)
    }
}
