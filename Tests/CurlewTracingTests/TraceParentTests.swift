// SPDX-License-Identifier: MIT

import CurlewTracing
import Testing

/// The rules of W3C Trace Context (Recommendation of 23 November 2021) for `traceparent`, by section.
@Suite(.timeLimit(.minutes(1)))
struct TraceParentTests {
    static let trace = "0af7651916cd43dd8448eb211c80319c"
    static let span = "b7ad6b7169203331"

    static func context(_ headers: HTTPHeaders) -> TraceContext? { TraceContext(headers: headers) }

    @Test(
        "§3.2.1: the name of the field is read in any case", arguments: ["traceparent", "TraceParent", "TRACEPARENT"])
    func name(name: String) throws {
        let context = Self.context([HTTPField.Name(name): "00-\(Self.trace)-\(Self.span)-01"])
        #expect(context?.traceID.description == Self.trace)
    }

    @Test("§3.2.1: other names are other fields", arguments: ["trace-parent", "trace.parent", "traceparent2"])
    func otherName(name: String) {
        #expect(Self.context([HTTPField.Name(name): "00-\(Self.trace)-\(Self.span)-01"]) == nil)
    }

    @Test("§3.2.1: the name is sent in lower case")
    func sentName() throws {
        var headers: HTTPHeaders = ["TRACEPARENT": "old", "TraceState": "old=1"]
        var context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: ["a=1"]))
        context.write(to: &headers)
        #expect(headers.map(\.name.text) == ["traceparent", "tracestate"])
        #expect(headers.map(\.value) == ["00-\(Self.trace)-\(Self.span)-01", "a=1"])
        context = TraceContext(traceID: context.traceID, spanID: context.spanID)
        context.write(to: &headers)
        #expect(headers.map(\.name.text) == ["traceparent"], "an empty tracestate is not sent (§3.3.1.1)")
    }

    @Test("§3.2.2: two fields are no valid field")
    func twice() {
        var headers: HTTPHeaders = ["traceparent": "00-\(Self.trace)-\(Self.span)-01"]
        headers.append("traceparent", "00-\(Self.trace)-\(Self.span)-00")
        #expect(Self.context(headers) == nil)
    }

    @Test("§3.2.2: optional white space around the value is ignored", arguments: [" ", "\t", "\t "])
    func whiteSpace(space: String) {
        let text = "00-\(Self.trace)-\(Self.span)-01"
        #expect(TraceContext(traceparent: space + text + space)?.traceparent == text)
        #expect(TraceContext(traceparent: "00-\(space)\(Self.trace)-\(Self.span)-01") == nil)
    }

    /// §3.2.2.1: a version is two lower-case digits, and not ff.
    private static let versions: [String] = ["0", "000", "0x", ".0", "0.", "-1", "0A", "", "０0", "ff"]
        .map { "\($0)-\(trace)-\(span)-01" }
    /// §3.2.2.2: version 00 has exactly four fields, joined by dashes.
    private static let formats: [String] = [
        "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-00", "00-\(trace)-\(span)-01.", "00-\(trace)-\(span)",
        "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", "", "00", "-", "00-\(trace)",
    ]
    /// §3.2.2.5: flags are two lower-case digits.
    private static let flags: [String] = [".0", "0.", "1", "001", "0A", "FF", ""].map { "00-\(trace)-\(span)-\($0)" }
    /// §3.2.4: a higher version may be longer, but not shorter, and has the same characters.
    private static let higher: [String] = [
        "cc-\(trace)-\(span)-0", "cc-\(trace)-\(span)-01.x", "cc-\(trace)-\(span)-011", "cc-\(trace)-\(span)",
        "cc-\(trace.uppercased())-\(span)-01", "cc-\(String(repeating: "0", count: 32))-\(span)-01",
        "cc-\(trace)-\(String(repeating: "0", count: 16))-01", "cc-\(trace)-\(span)-0g",
    ]

    @Test("A value that breaks a rule is not read", arguments: versions + formats + flags + higher)
    func invalid(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(
        "§3.2.2.3: a trace identifier is 32 lower-case digits, not all zero",
        arguments: [
            String(repeating: "0", count: 32), trace.uppercased(), "." + trace.dropFirst(), trace.dropLast() + ".",
            String(trace.dropLast()), trace + "0", "g" + trace.dropFirst(), " " + trace.dropFirst(), "",
        ])
    func traceID(id: String) {
        #expect(TraceContext(traceparent: "00-\(id)-\(Self.span)-01") == nil)
        #expect(TraceContext.TraceID(id) == nil)
    }

    @Test(
        "§3.2.2.4: a parent identifier is 16 lower-case digits, not all zero",
        arguments: [
            String(repeating: "0", count: 16), span.uppercased(), "." + span.dropFirst(), span.dropLast() + ".",
            String(span.dropLast()), span + "0", "",
        ])
    func spanID(id: String) {
        #expect(TraceContext(traceparent: "00-\(Self.trace)-\(id)-01") == nil)
        #expect(TraceContext.SpanID(id) == nil)
    }

    @Test("§3.2.2.3 and §3.2.2.4: one digit other than zero makes an identifier valid")
    func smallest() {
        let text = "00-\(String(repeating: "0", count: 31))1-\(String(repeating: "0", count: 15))1-00"
        #expect(TraceContext(traceparent: text)?.traceparent == text)
        #expect(TraceContext.TraceID(high: 0, low: 0) == nil && TraceContext.SpanID(rawValue: 0) == nil)
    }

    @Test("§3.2.2.5.1: the flag sampled is the lowest bit, whatever the others", arguments: 0...255)
    func sampled(bits: Int) {
        let digits = (bits < 16 ? "0" : "") + String(bits, radix: 16)
        let context = TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-\(digits)")
        #expect(context?.isSampled == (bits & 1 == 1))
    }

    @Test("§3.2.2.5.2: other flags are sent as zero; Level 2 §3.2.2.5.2: random is kept", arguments: 0...255)
    func otherFlags(bits: Int) {
        let digits = (bits < 16 ? "0" : "") + String(bits, radix: 16)
        let context = TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-\(digits)")
        #expect(context?.traceparent == "00-\(Self.trace)-\(Self.span)-0\(bits & 3)")
        #expect(context?.flags.contains(.random) == (bits & 2 == 2))
    }

    @Test("§3.2.3: the examples are valid", arguments: ["01", "00"])
    func examples(flags: String) {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\(flags)"
        #expect(TraceContext(traceparent: text)?.description == text)
    }

    @Test(
        "§3.2.4: of a higher version the known fields are read, and the rest is not sent",
        arguments: ["", "-", "-what-the-future-will-be-like", "-\u{1F600}"])
    func higherVersion(rest: String) {
        for version in ["01", "cc", "fe"] {
            let context = TraceContext(traceparent: "\(version)-\(Self.trace)-\(Self.span)-0b\(rest)")
            #expect(context?.traceparent == "00-\(Self.trace)-\(Self.span)-01", "only the flag sampled is read")
        }
    }

    @Test("§3.2.4: only a prohibitively long value is refused")
    func length() {
        let text = "cc-\(Self.trace)-\(Self.span)-01-"
        #expect(TraceContext(traceparent: text + String(repeating: "a", count: 1024 - text.utf8.count)) != nil)
        #expect(TraceContext(traceparent: text + String(repeating: "a", count: 1025 - text.utf8.count)) == nil)
    }

    @Test("A source of zeros makes valid identifiers")
    func zeros() async throws {
        let spans = MemorySpanExporter()
        var options = CallTracer.Options()
        options.random = { 0 }
        let client = Tracing.client(spans, options: options) {
            $0.onAny { _ in .status(204) }
        }
        try await client.send(.get("/"))
        let sent = try #require(client.recordedCalls.first)
        #expect(TraceContext(headers: sent.request.headers) != nil)
    }
}
