// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewHTTP

/// The position of an operation in a distributed trace: the trace, the operation, and whether it is recorded (W3C Trace
/// Context, Recommendation of 23 November 2021).
///
/// A server reads the context of a request that it received, and makes its own calls within that context:
///
///     let context = TraceContext(headers: received)
///     try await TraceContext.with(context) {
///         try await client.send(.user(id: 1))          // continues the trace, if the client has `.tracing(to:)`
///     }
///
/// A value is always valid: no identifier is zero, and only flags that the specification defines are set.
public struct TraceContext: Hashable, Sendable {
    /// The identifier of the trace.
    public let traceID: TraceID
    /// The identifier of the operation (span) within the trace: `parent-id` in the field `traceparent` (§3.2.2.4).
    public let spanID: SpanID
    /// The flags of the trace.
    public let flags: Flags
    /// The vendor data in the field `tracestate`.
    public let state: TraceState

    /// Creates a context from its parts. Default: the flag `sampled` without `random`, and no vendor data. Flags that
    /// the specification does not define are removed.
    public init(traceID: TraceID, spanID: SpanID, flags: Flags = .sampled, state: TraceState = TraceState()) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags.intersection(.known)
        self.state = state
    }

    /// Whether the flag `sampled` is set: the sender of the context may have recorded the operation (§3.2.2.5.1).
    public var isSampled: Bool { flags.contains(.sampled) }

    /// The context of the current task, which `.tracing(to:)` continues; nil if none was set. Child tasks and tasks
    /// that are created with `Task` inherit the context; detached tasks do not.
    @TaskLocal public static var current: TraceContext?

    /// Runs `operation` with `context` as `current` and returns its result. With nil, its calls start new traces.
    public static func with<Value>(_ context: TraceContext?, _ operation: () throws -> Value) rethrows -> Value {
        try $current.withValue(context) { try operation() }
    }

    /// Runs `operation` with `context` as `current` and returns its result. With nil, its calls start new traces.
    ///
    /// `operation` runs on the actor of the caller. Errors and cancellation pass through.
    public static func with<Value>(
        _ context: TraceContext?, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(context) { try await operation() }
    }
}

extension TraceContext {
    /// Reads the context from the fields `traceparent` and `tracestate` of a message.
    ///
    /// Returns nil if `traceparent` is missing, invalid, or occurs more than once; `tracestate` is then ignored (§3.3).
    /// A `tracestate` that is invalid is dropped as a whole, and the rest is kept.
    public init?(headers: HTTPHeaders) {
        let parents = headers[values: "Traceparent"]
        guard parents.count == 1 else { return nil }
        self.init(traceparent: parents[0], tracestate: headers[values: "Tracestate"])
    }

    /// Reads the context from the values of its fields.
    ///
    /// - `traceparent`: the value of the field. Returns nil if the value is invalid or longer than 1,024 bytes. A
    ///   version above 00 is read by the rules of §3.2.4: identifiers and the flag `sampled` only.
    /// - `tracestate`: the values of all fields of that name, in order (§3.3.1.1). If one is invalid, all are dropped.
    ///   Default none.
    public init?(traceparent: String, tracestate: [String] = []) {
        // Later versions may be longer than the 55 characters of version 00 (§3.2.4).
        guard traceparent.utf8.count <= 1024 else { return nil }
        let bytes = Array(traceparent.trimmed().utf8)
        guard bytes.count >= 55, let version = LowerHex.read(bytes[0..<2]), version != 0xFF else { return nil }
        guard bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash else { return nil }
        // Only a higher version may have more fields, after another dash.
        guard bytes.count == 55 || version > 0 && bytes[55] == Self.dash else { return nil }
        guard let high = LowerHex.read(bytes[3..<19]), let low = LowerHex.read(bytes[19..<35]),
            let trace = TraceID(high: high, low: low),
            let span = LowerHex.read(bytes[36..<52]).flatMap({ SpanID(rawValue: $0) }),
            let bits = LowerHex.read(bytes[53..<55])
        else { return nil }
        // Of a higher version, only the flag `sampled` is known.
        let flags = Flags(rawValue: UInt8(truncatingIfNeeded: bits)).intersection(version == 0 ? .known : .sampled)
        self.init(traceID: trace, spanID: span, flags: flags, state: TraceState(tracestate) ?? TraceState())
    }

    private static let dash = UInt8(ascii: "-")

    /// The value of the field `traceparent`, in version 00: 55 characters.
    public var traceparent: String {
        LowerHex.text { bytes in
            bytes += [0x30, 0x30, Self.dash]
            LowerHex.write(traceID.high, digits: 16, to: &bytes)
            LowerHex.write(traceID.low, digits: 16, to: &bytes)
            bytes.append(Self.dash)
            LowerHex.write(spanID.rawValue, digits: 16, to: &bytes)
            bytes.append(Self.dash)
            LowerHex.write(UInt64(flags.rawValue), digits: 2, to: &bytes)
        }
    }

    /// Returns the context of an operation within this one: with the identifier `spanID`, in the same trace.
    package func child(_ spanID: SpanID) -> TraceContext {
        TraceContext(traceID: traceID, spanID: spanID, flags: flags, state: state)
    }

    /// Replaces the fields `traceparent` and `tracestate` of a message with those of this context. Without vendor data,
    /// there is no `tracestate`; with more than 512 characters, members are left out (`TraceState.fieldValue(limit:)`).
    package func write(to headers: inout HTTPHeaders) {
        Self.remove(from: &headers)
        headers.append(Self.parentName, traceparent)
        let state = state.fieldValue()
        if !state.isEmpty { headers.append(Self.stateName, state) }
    }

    /// Removes `traceparent` and `tracestate` from the fields of a message.
    package static func remove(from headers: inout HTTPHeaders) {
        headers.remove("Traceparent")
        headers.remove("Tracestate")
    }

    // The names are sent in lower case (§3.2.1, §3.3.1).
    private static let parentName = HTTPField.Name("traceparent")
    private static let stateName = HTTPField.Name("tracestate")
}

extension TraceContext: CustomStringConvertible {
    /// The value of the field `traceparent`.
    public var description: String { traceparent }
}

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

        /// The sender of the context may have recorded the operation (§3.2.2.5.1).
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
