// SPDX-License-Identifier: MIT

import Foundation

/// Repeatable randomness (SplitMix64): one seed gives one run.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Evenly from 0 up to, not including, 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// The time to the next of events that come by chance, `rate` in a second.
    mutating func gap(rate: Double) -> Int64 {
        Int64(-log(1 - unit()) / rate * 1e9)
    }
}
