// SPDX-License-Identifier: MIT

import CurlewTracing
import Testing

/// Random values and random text for the parsers and writers of contexts. A failure prints its seed.
@Suite(.timeLimit(.minutes(1)))
struct TracePropertyTests {
    private static func pick(_ letters: String, _ count: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
        let letters = Array(letters)
        return String(
            (0..<Int.random(in: count, using: &random)).map { _ in
                letters[Int.random(in: letters.indices, using: &random)]
            })
    }

    @Test("A written context is read as the same context", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var members: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...32, using: &random) {
            let first = Self.pick("abcxyz", 1...1, &random)
            let key = first + Self.pick("abcxyz019_-*/", 0...8, &random)
            let value = Self.pick(" !#$%&'()*+-./09:;<>?@AZ[\\]^_`az{|}~", 0...8, &random) + "x"
            members[key] = value
        }
        let state = try #require(TraceState(members.sorted { $0.key < $1.key }.map { $0.key + "=" + $0.value }))
        #expect(state.members.count == members.count, "seed \(seed)")
        let trace = try #require(TraceContext.TraceID(high: random.next(), low: random.next() | 1))
        let span = try #require(TraceContext.SpanID(rawValue: random.next() | 1))
        let flags = TraceContext.Flags(rawValue: UInt8.random(in: 0...255, using: &random))
        let context = TraceContext(traceID: trace, spanID: span, flags: flags, state: state)
        let read = TraceContext(traceparent: context.traceparent, tracestate: [state.fieldValue(limit: .max)])
        #expect(read == context, "seed \(seed)")
        let cut = TraceState([state.fieldValue()])
        #expect(state.fieldValue().utf8.count <= 512 && cut != nil, "seed \(seed)")
        let kept = cut?.members ?? []
        #expect(state.members.filter { kept.contains($0) } == kept, "the order is kept, seed \(seed)")
    }

    @Test("A changed byte makes another context or none, and never a crash", arguments: 0..<300 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let valid = "00-\(TraceParentTests.trace)-\(TraceParentTests.span)-01"
        for _ in 0..<50 {
            var bytes = Array(valid.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...127, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...127, using: &random), at: index)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let context = TraceContext(traceparent: text) else { continue }
            let isModel =
                text.wholeMatch(
                    of: /[ \t]*(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?[ \t]*/)
                != nil
            #expect(isModel, "seed \(seed): \(text)")
            #expect(TraceContext(traceparent: context.traceparent)?.traceID == context.traceID, "seed \(seed)")
        }
    }

    @Test("Random text is read as valid members only", arguments: 0..<300 as Range<UInt64>)
    func text(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let fields = (0..<3).map { _ in
            Bool.random(using: &random) ? random.text(upTo: 40) : Self.pick("ab1=,; \t@%2F\"", 0...40, &random)
        }
        if let state = TraceState(fields) {
            #expect(TraceState([state.fieldValue(limit: .max)]) == state, "seed \(seed)")
            #expect(Set(state.members.map(\.key)).count == state.members.count, "seed \(seed)")
        }
        _ = TraceContext(traceparent: fields[0], tracestate: fields)
    }

    @Test("A ratio records about its share, by the identifier alone", arguments: [0, 0.001, 0.25, 0.5, 0.9, 1])
    func sampler(ratio: Double) throws {
        let seed: UInt64 = 24
        var random = SeededGenerator(seed: seed)
        let sampler = TraceSampler.ratio(ratio)
        var count = 0
        for _ in 0..<20_000 {
            let trace = try #require(TraceContext.TraceID(high: random.next(), low: random.next() | 1))
            if sampler.records(trace) { count += 1 }
            let other = try #require(TraceContext.TraceID(high: random.next(), low: trace.low | 0xFF00_0000_0000_0000))
            #expect(sampler.records(other) == sampler.records(trace), "only the last seven bytes count, seed \(seed)")
            if sampler.records(trace) { #expect(TraceSampler.ratio(min(1, ratio + 0.05)).records(trace)) }
        }
        #expect(abs(Double(count) / 20_000 - ratio) < 0.02, "seed \(seed)")
        #expect(
            TraceSampler.ratio(-1) == .never && TraceSampler.ratio(2) == .always && TraceSampler.ratio(.nan) == .never)
    }
}
