// SPDX-License-Identifier: MIT

import CurlewHTTP

/// A key for a fact that a capability attaches to a context or a response.
package protocol FactKey {
    associatedtype Value: Sendable
    static var defaultValue: Value { get }
}

/// A fact that describes where a response comes from, such as a cache.
package protocol SourceFact: Sendable {
    /// The text for the source in log lines; nil if the response comes from the server.
    var source: String? { get }
}

/// The facts that capabilities attach to a context or a response, stored by key. The kernel carries the facts of
/// capabilities without knowing their types.
///
/// Most contexts and responses have no facts, and the others have one or two. The facts are stored as a linked list,
/// which is faster than a dictionary for so few elements.
package struct Facts: MirroredByDescription, Sendable {
    private var first: Fact?

    init() {}

    package subscript<Key: FactKey>(key: Key.Type) -> Key.Value {
        get {
            let wanted = ObjectIdentifier(key)
            var fact = first
            while let current = fact {
                if current.key == wanted { return current.value as? Key.Value ?? Key.defaultValue }
                fact = current.next
            }
            return Key.defaultValue
        }
        set {
            let changed = ObjectIdentifier(key)
            var facts: [Fact] = []
            var fact = first
            while let current = fact {
                if current.key != changed { facts.append(current) }
                fact = current.next
            }
            var tail: Fact?
            for kept in facts.reversed() { tail = Fact(key: kept.key, value: kept.value, next: tail) }
            first = Fact(key: changed, value: newValue, next: tail)
        }
    }

    /// The sources of the response other than the server, as log lines name them; empty if the complete response comes
    /// from the server.
    package var otherSources: [String] {
        if let standIn = self[StandInKey.self] { return [standIn.text] }
        return values.compactMap { ($0 as? any SourceFact)?.source }
    }

    private var values: [any Sendable] {
        first.map { sequence(first: $0, next: \.next).map(\.value).reversed() } ?? []
    }

    private final class Fact: Sendable {
        let key: ObjectIdentifier
        let value: any Sendable
        let next: Fact?

        init(key: ObjectIdentifier, value: any Sendable, next: Fact?) {
            self.key = key
            self.value = value
            self.next = next
        }
    }

    /// The descriptions of the facts, oldest first.
    package var description: String {
        // A fact that was removed is stored as nil.
        values.compactMap { ($0 as? StandIn)?.text ?? ($0 is StandIn? ? nil : "\($0)") }.joined(separator: "; ")
    }
}

/// The failure that the client replaced with a response.
private struct StandIn: Sendable {
    let failure: String
    var text: String { "from the fallback: the call failed: \(failure)" }
}

extension Facts {
    /// The label of the failure (`NetworkError.label`) that the client replaced with this response, as `.fallback`
    /// does; nil for any other response.
    package var standIn: String? {
        get { self[StandInKey.self]?.failure }
        set { if newValue != nil || standIn != nil { self[StandInKey.self] = newValue.map(StandIn.init) } }
    }
}

private enum StandInKey: FactKey {
    static let defaultValue: StandIn? = nil
}
