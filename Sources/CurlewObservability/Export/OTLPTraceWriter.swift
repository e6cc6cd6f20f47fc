// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes spans as the JSON of an `ExportTraceServiceRequest` (OTLP 1.9.0, JSON Protobuf encoding): identifiers in
/// hexadecimal, enumerations and 32-bit numbers as numbers, 64-bit numbers as text.
struct OTLPTraceWriter {
    private var bytes: [UInt8] = []

    /// Returns the body of a request.
    ///
    /// - `resource`: the attributes of the process.
    static func body(_ spans: [TraceSpan], resource: [TraceSpan.Attribute]) -> Data {
        var writer = OTLPTraceWriter()
        writer.bytes.reserveCapacity(spans.count * 1024 + 512)
        writer.raw(#"{"resourceSpans":[{"resource":{"attributes":"#)
        writer.attributes(resource)
        writer.raw(#"},"scopeSpans":[{"scope":{"name":"curlew","version":"0.1"},"spans":["#)
        writer.list(spans) { $0.span($1) }
        writer.raw(#"],"schemaUrl":"https://opentelemetry.io/schemas/1.38.0"}]}]}"#)
        return Data(writer.bytes)
    }

    private mutating func span(_ span: TraceSpan) {
        raw("{")
        identifiers(of: span.context)
        if let parent = span.parent { raw(#","parentSpanId":"\#(parent)""#) }
        raw(#","flags":\#(span.context.flags.rawValue),"name":"#)
        text(span.name)
        raw(#","kind":\#(span.kind.rawValue)"#)
        raw(#","startTimeUnixNano":"\#(span.start)","endTimeUnixNano":"\#(span.end)","attributes":"#)
        attributes(span.attributes)
        if !span.events.isEmpty {
            raw(#","events":["#)
            list(span.events) { writer, event in
                writer.raw(#"{"timeUnixNano":"\#(event.time)","name":"#)
                writer.text(event.name)
                writer.raw(#","attributes":"#)
                writer.attributes(event.attributes)
                writer.raw("}")
            }
            raw("]")
        }
        if span.droppedEvents > 0 { raw(#","droppedEventsCount":\#(min(span.droppedEvents, Int(Int32.max)))"#) }
        if !span.links.isEmpty {
            raw(#","links":["#)
            list(span.links) { writer, link in
                writer.raw("{")
                writer.identifiers(of: link.context)
                writer.raw(#","flags":\#(link.context.flags.rawValue),"attributes":"#)
                writer.attributes(link.attributes)
                writer.raw("}")
            }
            raw("]")
        }
        if case .error(let message) = span.status {
            raw(#","status":{"code":2"#)
            if !message.isEmpty {
                raw(#","message":"#)
                text(message)
            }
            raw("}")
        }
        raw("}")
    }

    private mutating func identifiers(of context: TraceContext) {
        raw(#""traceId":"\#(context.traceID)","spanId":"\#(context.spanID)""#)
        let state = context.state.fieldValue()
        guard !state.isEmpty else { return }
        raw(#","traceState":"#)
        text(state)
    }

    private mutating func attributes(_ attributes: [TraceSpan.Attribute]) {
        raw("[")
        list(attributes) { writer, attribute in
            writer.raw(#"{"key":"#)
            writer.text(attribute.key)
            writer.raw(#","value":{"#)
            switch attribute.value {
            case .string(let value):
                writer.raw(#""stringValue":"#)
                writer.text(value)
            case .int(let value): writer.raw(#""intValue":"\#(value)""#)
            case .bool(let value): writer.raw(#""boolValue":\#(value)"#)
            }
            writer.raw("}}")
        }
        raw("]")
    }

    private mutating func list<Element>(_ elements: [Element], _ write: (inout OTLPTraceWriter, Element) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            write(&self, element)
        }
    }

    private mutating func raw(_ json: String) { bytes += json.utf8 }

    /// Writes a JSON string (RFC 8259 §7).
    private mutating func text(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                bytes += #"\u00"#.utf8
                LowerHex.write(UInt64(byte), digits: 2, to: &bytes)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
