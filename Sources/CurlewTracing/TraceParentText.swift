// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The value of the field `traceparent` (W3C Trace Context §3.2.2).
enum TraceParentText {
    /// The longest value that is read. Later versions may be longer than the 55 characters of version 00 (§3.2.4).
    static let longest = 1024

    private static let dash = UInt8(ascii: "-")

    static func read(
        _ text: String
    ) -> (trace: TraceContext.TraceID, span: TraceContext.SpanID, flags: TraceContext.Flags)? {
        guard text.utf8.count <= longest else { return nil }
        let bytes = Array(text.trimmed().utf8)
        guard bytes.count >= 55, let version = LowerHex.read(bytes[0..<2]), version != 0xFF else { return nil }
        guard bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
        // Only a higher version may have more fields, after another dash.
        if bytes.count > 55 {
            guard version > 0, bytes[55] == dash else { return nil }
        }
        guard let high = LowerHex.read(bytes[3..<19]), let low = LowerHex.read(bytes[19..<35]),
            let trace = TraceContext.TraceID(high: high, low: low),
            let span = LowerHex.read(bytes[36..<52]).flatMap({ TraceContext.SpanID(rawValue: $0) }),
            let bits = LowerHex.read(bytes[53..<55])
        else { return nil }
        // Of a higher version, only the flag `sampled` is known.
        let known: TraceContext.Flags = version == 0 ? .known : .sampled
        return (trace, span, TraceContext.Flags(rawValue: UInt8(truncatingIfNeeded: bits)).intersection(known))
    }

    static func write(_ context: TraceContext) -> String {
        LowerHex.text { bytes in
            bytes += [0x30, 0x30, dash]
            LowerHex.write(context.traceID.high, digits: 16, to: &bytes)
            LowerHex.write(context.traceID.low, digits: 16, to: &bytes)
            bytes.append(dash)
            LowerHex.write(context.spanID.rawValue, digits: 16, to: &bytes)
            bytes.append(dash)
            LowerHex.write(UInt64(context.flags.rawValue), digits: 2, to: &bytes)
        }
    }
}
