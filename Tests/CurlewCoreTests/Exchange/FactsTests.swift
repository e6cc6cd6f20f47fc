// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// The facts that capabilities attach to contexts and responses.
@Suite(.timeLimit(.minutes(1)))
struct FactsTests {
    private enum Number: FactKey {
        static let defaultValue = 0
    }

    private enum Name: FactKey {
        static let defaultValue: String? = nil
    }

    private struct Source: SourceFact {
        let source: String?
    }

    private enum Origin: FactKey {
        static let defaultValue = Source(source: nil)
    }

    @Test("A fact has the default value of its key until it is set")
    func defaults() {
        var facts = Facts()
        #expect(facts[Number.self] == 0)
        #expect(facts[Name.self] == nil)
        facts[Number.self] = 7
        #expect(facts[Number.self] == 7)
        #expect(facts[Name.self] == nil)
    }

    @Test("Setting a fact replaces it, keeps the others, and leaves copies as they were")
    func values() {
        var facts = Facts()
        facts[Number.self] = 1
        facts[Name.self] = "a"
        let copy = facts
        facts[Number.self] = 2
        #expect((facts[Number.self], facts[Name.self]) == (2, "a"))
        #expect((copy[Number.self], copy[Name.self]) == (1, "a"))
        facts[Name.self] = nil
        #expect((facts[Number.self], facts[Name.self]) == (2, nil))
        #expect(facts.all(Int.self) == [2])
    }

    @Test("A response that stands in for a failure has no other source")
    func sources() {
        var facts = Facts()
        #expect(facts.otherSources.isEmpty)
        facts[Origin.self] = Source(source: "the cache")
        #expect(facts.otherSources == ["the cache"])
        facts.standIn = StandIn(failure: "timedOut", text: "a fallback")
        #expect(facts.otherSources == ["a fallback"])
        #expect(facts.description.hasSuffix("a fallback"))
        facts.standIn = nil
        #expect(facts.otherSources == ["the cache"])
        #expect(!facts.description.contains("nil"))
    }
}
