// SPDX-License-Identifier: MIT

/// A random number generator (SplitMix64) that reproduces its numbers from a seed. A test that fails prints its seed,
/// so that the run can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator. The same seed produces the same numbers.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns 0 to `count` random bytes.
    package mutating func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Returns random text of 0 to `count` Unicode scalars: a quarter each of printable ASCII and ASCII control
    /// characters, and half of other characters.
    package mutating func text(upTo count: Int) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            let ranges: [ClosedRange<UInt32>] = [0x20...0x7E, 0x00...0x1F, 0x80...0xD7FF, 0xE000...0x10FFFF]
            let range = ranges[Int.random(in: 0..<4, using: &self)]
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
