// SPDX-License-Identifier: MIT

extension TraceContext {
    /// The identifier of a trace: 16 bytes that are not all zero (W3C Trace Context §3.2.2.3).
    public struct TraceID: Hashable, Sendable, CustomStringConvertible {
        /// The first eight bytes.
        public let high: UInt64
        /// The last eight bytes.
        public let low: UInt64

        /// Creates an identifier from its two halves. Returns nil if both are zero.
        public init?(high: UInt64, low: UInt64) {
            guard high | low != 0 else { return nil }
            self.high = high
            self.low = low
        }

        /// Reads 32 lower-case hexadecimal digits. Returns nil for any other text, and for 32 zeros.
        public init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard bytes.count == 32, let high = LowerHex.read(bytes[..<16]), let low = LowerHex.read(bytes[16...])
            else { return nil }
            self.init(high: high, low: low)
        }

        /// The identifier as 32 lower-case hexadecimal digits.
        public var description: String {
            LowerHex.text { bytes in
                LowerHex.write(high, digits: 16, to: &bytes)
                LowerHex.write(low, digits: 16, to: &bytes)
            }
        }

        /// Creates an identifier whose 16 bytes are random.
        static func random(_ random: () -> UInt64) -> TraceID {
            // A source that only returns zeros must not stop the call.
            TraceID(checked: random(), max(1, random()))
        }

        private init(checked high: UInt64, _ low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// The identifier of an operation within a trace: 8 bytes that are not all zero (W3C Trace Context §3.2.2.4).
    public struct SpanID: Hashable, Sendable, CustomStringConvertible {
        /// The identifier as a number.
        public let rawValue: UInt64

        /// Creates an identifier. Returns nil for zero.
        public init?(rawValue: UInt64) {
            guard rawValue != 0 else { return nil }
            self.rawValue = rawValue
        }

        /// Reads 16 lower-case hexadecimal digits. Returns nil for any other text, and for 16 zeros.
        public init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard bytes.count == 16, let value = LowerHex.read(bytes[...]) else { return nil }
            self.init(rawValue: value)
        }

        /// The identifier as 16 lower-case hexadecimal digits.
        public var description: String {
            LowerHex.text { LowerHex.write(rawValue, digits: 16, to: &$0) }
        }

        static func random(_ random: () -> UInt64) -> SpanID {
            SpanID(checked: max(1, random()))
        }

        private init(checked value: UInt64) { rawValue = value }
    }

    /// The flags of a trace (W3C Trace Context §3.2.2.5).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits of the flags.
        public let rawValue: UInt8

        /// Creates flags from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The caller may have recorded the operation (§3.2.2.5.1).
        public static let sampled = Flags(rawValue: 1)
        /// At least the last seven bytes of the trace identifier are random (W3C Trace Context Level 2, Candidate
        /// Recommendation). Receivers of Level 1 ignore the flag.
        public static let random = Flags(rawValue: 2)

        /// The flags that are sent. All others are reserved and must be zero (§3.2.2.5.2).
        static let known: Flags = [.sampled, .random]
    }
}

/// Lower-case hexadecimal digits. Upper-case digits are invalid in identifiers of traces.
enum LowerHex {
    static func read(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: value = value << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
        return value
    }

    static func write(_ value: UInt64, digits: Int, to bytes: inout [UInt8]) {
        for index in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(index * 4) & 15)
            bytes.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
        }
    }

    static func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(56)
        write(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
