// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewObservability

/// The JSON of the exporter, read by the classes that OpenTelemetry's own definitions make in Python. Fields that the
/// definitions do not have are refused.
@Suite(.timeLimit(.minutes(2)))
struct OTLPSchemaTests {
    private static let script = """
        import base64, json, sys
        try:
            from google.protobuf import json_format
            from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        except ImportError as error:
            print("missing: %s" % error)
            sys.exit(0)
        # JSON of OTLP has identifiers in hexadecimal, that of Protobuf in Base64.
        def recoded(value, key=None):
            if isinstance(value, dict):
                return {name: recoded(member, name) for name, member in value.items()}
            if isinstance(value, list):
                return [recoded(member) for member in value]
            if key in ("traceId", "spanId", "parentSpanId"):
                return base64.b64encode(bytes.fromhex(value)).decode()
            return value
        request = json_format.Parse(json.dumps(recoded(json.load(sys.stdin))), ExportTraceServiceRequest())
        def attributes(list):
            return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in list}
        print("parsed")
        for resource in request.resource_spans:
            print("resource", attributes(resource.resource.attributes))
            for scope in resource.scope_spans:
                for span in scope.spans:
                    values = attributes(span.attributes)
                    print(span.kind, span.name, span.trace_id.hex(), span.span_id.hex(),
                          span.parent_span_id.hex() or "-", span.flags, span.trace_state or "-",
                          span.end_time_unix_nano - span.start_time_unix_nano, span.status.code,
                          values.get("http.response.status_code", "-"), values.get("http.request.resend_count", "-"),
                          len(span.events), [link.span_id.hex() for link in span.links],
                          repr(span.status.message))
        """

    private static func parsed(_ data: Data) async throws -> [String]? {
        let output = try await onThread {
            try Program.run(Program.python(), ["-c", script], input: data)
        }
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.first == "parsed" else {
            print("OTLPSchemaTests: not parsed, because Python lacks a package (Scripts/setup): \(lines)")
            return nil
        }
        return Array(lines.dropFirst())
    }

    @Test("the spans of calls are valid requests of OTLP")
    func calls() async throws {
        let spans = MemorySpanExporter()
        let client = Tracing.client(
            spans, pipeline: [.redirects(), .retry(.attempts(2))],
            configuration: APIClient.Configuration(time: ManualClock.skippingWaits)
        ) {
            let answers = Locked([503, 200])
            $0.on(.get, "/a", .status(302, headers: [.location: "/b"]))
            $0.on(.get, "/b") { _ in .status(HTTPStatus(answers.withLock { $0.removeFirst() })) }
            $0.on(.get, "/gone", .status(404))
            $0.fail(.get, "/broken", with: NetworkError(.unreachable, detail: "A \"quoted\" \\ text,\n\u{1}\u{1F600}."))
        }
        let parent = TraceContext(traceparent: Tracing.parent, tracestate: ["congo=t\"\\61"])
        try await TraceContext.with(parent) { try await client.send(Request<Void>.get("/a").name("Redirected")) }
        _ = try? await client.send(Request<Void>.get("/gone").name("Gone\"\\"))
        _ = try? await client.send(Request<Void>(.get, "/broken", name: ""))
        let all = spans.spans
        let body = OTLPTraceWriter.body(
            all, resource: [.init("service.name", .string("films")), .init("n", .int(.max)), .init("b", .bool(true))])
        guard let lines = try await Self.parsed(body) else { return }
        #expect(lines.count == all.count + 1)
        #expect(lines[0] == "resource {'service.name': 'films', 'n': 9223372036854775807, 'b': True}")
        for (span, line) in zip(all, lines.dropFirst()) {
            let code = span.isError ? 2 : 0
            let start =
                "\(span.kind.rawValue) \(span.name) \(span.context.traceID) \(span.context.spanID) "
                + "\(span.parent.map { "\($0)" } ?? "-") \(span.context.flags.rawValue) "
                + "\(span.context.state.members.isEmpty ? "-" : span.context.state.fieldValue()) "
                + "\(span.end - span.start) \(code) \(span.text("http.response.status_code") ?? "-") "
                + "\(span.text("http.request.resend_count") ?? "-") \(span.events.count)"
            #expect(line.hasPrefix(start), "\(line)\n\(start)")
            #expect(span.links.allSatisfy { line.contains("'\($0.context.spanID)'") })
        }
        #expect(lines.contains { $0.contains("A \"quoted\"") && $0.contains("😀") })
    }

    @Test("random text in every place is valid JSON, and equal after parsing", arguments: 0..<5 as Range<UInt64>)
    func text(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var spans: [TraceSpan] = []
        var names: [String] = []
        for _ in 0..<50 {
            let context = TraceContext(traceID: .random { random.next() }, spanID: .random { random.next() })
            var span = TraceSpan(random.text(upTo: 30), kind: .client, context: context, start: random.next() >> 2)
            span.end = span.start
            span["k\(random.text(upTo: 5))"] = .string(random.text(upTo: 50))
            span.events = [TraceSpan.Event(random.text(upTo: 9), time: 1, attributes: [.init("a", .bool(false))])]
            span.droppedEvents = 3
            span.links = [TraceSpan.Link(context, attributes: [.init(random.text(upTo: 5), .int(-1))])]
            span.status = .error(message: random.text(upTo: 20))
            names.append(span.name)
            spans.append(span)
        }
        let body = OTLPTraceWriter.body(spans, resource: [])
        let json = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        let resource = (json?["resourceSpans"] as? [[String: Any]])?.first
        let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
        let read = (scope?["spans"] as? [[String: Any]])?.compactMap { $0["name"] as? String } ?? []
        #expect(read.count == 50, "seed \(seed)")
        #expect(zip(read, names).allSatisfy { $0.unicodeScalars.elementsEqual($1.unicodeScalars) }, "seed \(seed)")
        guard let lines = try await Self.parsed(body) else { return }
        #expect(lines.count >= 51, "seed \(seed)")
    }

    @Test("the check of the schema refuses a field that does not exist")
    func refusal() async throws {
        guard try await Self.parsed(Data(#"{"resourceSpans":[]}"#.utf8)) != nil else { return }
        await #expect(throws: (any Error).self) {
            _ = try await Self.parsed(Data(#"{"resourceSpan":[]}"#.utf8))
        }
    }
}
