// SPDX-License-Identifier: MIT

/// A key of a fact that a capability attaches to a context or a response.
package protocol FactKey {
    /// The type of the fact.
    associatedtype Value: Sendable
    /// The value if none was stored.
    static var defaultValue: Value { get }
}

/// A fact that says where a response comes from.
package protocol SourceFact: Sendable {
    /// The source in words, for log lines; nil for the server.
    var source: String? { get }
}

/// A fact of a pipeline's configuration that can be a problem of the pipeline as a whole.
package protocol SetupFact: Sendable {
    /// The problem as one sentence; nil if there is none.
    var problem: String? { get }
}

/// The facts that capabilities attach to a context or a response, by their keys. The kernel carries them and knows none
/// of them.
///
/// Most contexts and responses have none, and the others one or two: a list behind one reference, which is faster than
/// a dictionary.
package struct Facts: Sendable {
    @usableFromInline var first: Fact?

    package init() {}

    package subscript<Key: FactKey>(key: Key.Type) -> Key.Value {
        // Inlinable for the modules that read their facts in each call.
        @inlinable
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
            var rest: Fact?
            for kept in facts.reversed() { rest = Fact(key: kept.key, value: kept.value, next: rest) }
            first = Fact(key: changed, value: newValue, next: rest)
        }
    }

    /// The sources of the response other than the server, in words; empty if the whole response is from the server.
    package var otherSources: [String] {
        if let standIn { return [standIn.text] }
        return all((any SourceFact).self).compactMap(\.source)
    }

    /// Returns the facts of one type, oldest first.
    package func all<Found>(_ type: Found.Type) -> [Found] {
        var found: [Found] = []
        var fact = first
        while let current = fact {
            if let value = current.value as? Found { found.append(value) }
            fact = current.next
        }
        return found.reversed()
    }

    @usableFromInline
    final class Fact: Sendable {
        @usableFromInline let key: ObjectIdentifier
        @usableFromInline let value: any Sendable
        @usableFromInline let next: Fact?

        init(key: ObjectIdentifier, value: any Sendable, next: Fact?) {
            self.key = key
            self.value = value
            self.next = next
        }
    }
}

extension Facts: CustomStringConvertible, CustomReflectable {
    /// The values, oldest fact first.
    package var description: String {
        var texts: [String] = []
        var fact = first
        while let current = fact {
            let value = current.value
            // A fact that was removed is stored as nil.
            if let text = (value as? StandIn)?.text ?? (value is StandIn? ? nil : "\(value)") { texts.append(text) }
            fact = current.next
        }
        return texts.reversed().joined(separator: "; ")
    }

    /// Shows the description only. Debuggers and `dump` use it.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The failure in whose place the client created a response.
package struct StandIn: Sendable {
    /// The label of the failure.
    package let failure: String
    /// The words of log lines.
    package let text: String

    package init(failure: String, text: String) {
        self.failure = failure
        self.text = text
    }
}

extension Facts {
    /// Set if the client created the response in place of a failure.
    package var standIn: StandIn? {
        get { self[StandInKey.self] }
        set { if newValue != nil || standIn != nil { self[StandInKey.self] = newValue } }
    }
}

private enum StandInKey: FactKey {
    static let defaultValue: StandIn? = nil
}
