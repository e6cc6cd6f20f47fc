// SPDX-License-Identifier: MIT

import CurlewCore

/// The place of a value in a JSON body: `user[name]`, `tags[]`, `rows[0][id]`.
///
/// A name in brackets is a member of an object, a number is an index of an array, and empty brackets append to an
/// array. A path that begins with a bracket is in an array that is the whole body. A backslash before a bracket makes
/// it a part of the name, and one before a number makes the number a name: `a[\\0]`.
struct JSONPath: Sendable {
    enum Step: Hashable, Sendable {
        case name(String)
        case index(Int)
        case append

        var text: String {
            switch self {
            case .name(let name): "[\(name)]"
            case .index(let index): "[\(index)]"
            case .append: "[]"
            }
        }
    }

    /// An array has no more elements than this, because an index fills the array up to it.
    static let indexLimit = 9999
    private static let depthLimit = 100

    let steps: [Step]
    private let text: String

    init(_ text: String) throws(UsageError) {
        self.text = text
        var scalars = text.unicodeScalars[...]
        let root = try Self.read(upTo: "[", &scalars, text)
        var steps: [Step] = []
        if !root.isEmpty || scalars.isEmpty { steps.append(.name(root)) }
        while let scalar = scalars.popFirst() {
            guard scalar == "[" else { throw Self.problem(text, "There is \"\(scalar)\" after a bracket.") }
            let isName = scalars.first == "\\" && scalars.dropFirst().first.map { ("0"..."9").contains($0) } == true
            if isName { scalars = scalars.dropFirst() }
            let content = try Self.read(upTo: "]", &scalars, text)
            guard scalars.popFirst() == "]" else { throw Self.problem(text, "A bracket is not closed.") }
            steps.append(isName ? .name(content) : try Self.step(content, text))
        }
        if root.isEmpty, case .name? = steps.first, !text.isEmpty {
            throw Self.problem(text, "A body that is an array has [] or a number in its first brackets.")
        }
        guard steps.count <= Self.depthLimit else { throw Self.problem(text, "It has too many brackets.") }
        self.steps = steps
    }

    private static func step(_ content: String, _ text: String) throws(UsageError) -> Step {
        if content.isEmpty { return .append }
        let digits = content.utf8.first == UInt8(ascii: "-") ? content.utf8.dropFirst() : content.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return .name(content) }
        guard let index = Int(content), (0...indexLimit).contains(index) else {
            throw problem(text, "\(content) is not an index from 0 to \(indexLimit).")
        }
        return .index(index)
    }

    /// Reads until an end that no backslash precedes, or to the end of the text.
    private static func read(
        upTo end: Unicode.Scalar, _ scalars: inout Substring.UnicodeScalarView, _ text: String
    ) throws(UsageError) -> String {
        var result = String.UnicodeScalarView()
        while let scalar = scalars.first, scalar != end {
            scalars = scalars.dropFirst()
            if scalar == "\\", let next = scalars.first, next == "[" || next == "]" {
                scalars = scalars.dropFirst()
                result.append(next)
                continue
            }
            guard scalar != "[", scalar != "]" else {
                throw problem(text, "A bracket is \(scalar == "[" ? "inside another one" : "not opened").")
            }
            result.append(scalar)
        }
        return String(result)
    }

    private static func problem(_ text: String, _ detail: String) -> UsageError {
        UsageError(
            "\"\(text)\" is not a place in a JSON body. \(detail)",
            "Write name[member], name[0] or name[]. A backslash before a bracket makes it a part of the name.")
    }

    // MARK: - Writing

    /// Sets the value at this place, and creates the objects and arrays on the way. A value at the end is replaced.
    func set(_ value: JSONValue, in root: inout JSONValue) throws(UsageError) {
        try set(value, steps[...], &root)
    }

    private func set(_ value: JSONValue, _ rest: ArraySlice<Step>, _ target: inout JSONValue) throws(UsageError) {
        guard let step = rest.first else {
            target = value
            return
        }
        let rest = rest.dropFirst()
        if case .name(let name) = step {
            var object = try object(target, rest)
            var child = object[name] ?? .null
            try set(value, rest, &child)
            object[name] = child
            target = .object(object)
            return
        }
        var array = try array(target, rest)
        var index = array.count
        if case .index(let given) = step { index = given }
        guard index <= Self.indexLimit else { throw Self.problem(text, "The array has too many elements.") }
        while array.count <= index { array.append(.null) }
        try set(value, rest, &array[index])
        target = .array(array)
    }

    private func object(_ value: JSONValue, _ rest: ArraySlice<Step>) throws(UsageError) -> JSONValue.Object {
        switch value {
        case .object(let object): object
        case .null: JSONValue.Object()
        default: throw conflict(value, "an object", rest)
        }
    }

    private func array(_ value: JSONValue, _ rest: ArraySlice<Step>) throws(UsageError) -> [JSONValue] {
        switch value {
        case .array(let array): array
        case .null: []
        default: throw conflict(value, "an array", rest)
        }
    }

    private func conflict(_ value: JSONValue, _ needed: String, _ rest: ArraySlice<Step>) -> UsageError {
        let place = steps.count - rest.count - 1
        let before = steps[..<place].enumerated().map { index, step in
            if index == 0, case .name(let name) = step { return name }
            return step.text
        }.joined()
        let subject = before.isEmpty ? "The body" : "\"\(before)\""
        let kind =
            switch value {
            case .object: "an object"
            case .array: "an array"
            case .string: "a text"
            case .bool: "true or false"
            default: "a number"
            }
        return UsageError(
            "\(subject) is \(kind) by an earlier item, and \"\(text)\" needs \(needed).",
            "Give a place one kind: name[member] for an object, name[] or name[0] for an array.")
    }
}
