// SPDX-License-Identifier: MIT

/// Creates `JSONValue`s directly from the tape, without a decoder.
extension Document {
    func jsonValue(at index: Int, in parent: UInt32) throws -> JSONValue {
        switch tape[index].kind {
        case .null: return .null
        case .false: return .bool(false)
        case .true: return .bool(true)
        case .string: return .string(text(at: index))
        case .array: return .array(try jsonElements(of: index))
        case .object: return .object(try jsonMembers(of: index))
        default: return try jsonNumber(at: index, in: parent)
        }
    }

    private func jsonNumber(at index: Int, in parent: UInt32) throws -> JSONValue {
        if let value = integer(Int64.self, at: index) { return .integer(value) }
        if let value = integer(UInt64.self, at: index) { return .unsigned(value) }
        if let value = double(at: index) { return .number(value) }
        // A number that is too small rounds to zero; only a number that is too large cannot be represented.
        if let zero = LongNumber(at: index, in: self).underflow { return .number(zero) }
        throw failure(Double.self, at: index, in: parent)
    }

    private func jsonElements(of array: Int) throws -> [JSONValue] {
        try enter(array)
        let count = tape.elements(tape[array])
        var elements: [JSONValue] = []
        elements.reserveCapacity(count)
        var element = array &+ 1
        for _ in 0..<count {
            elements.append(try jsonValue(at: element, in: UInt32(truncatingIfNeeded: array)))
            element = tape.index(after: element)
        }
        return elements
    }

    /// Reads the members of an object. If several keys are equal, the first is used, and the values of the others are
    /// not read.
    private func jsonMembers(of object: Int) throws -> JSONValue.Object {
        try enter(object)
        let head = tape[object]
        if head.has(.crowded) { throw crowdedKey(in: object) }
        let mayRepeat = head.has(.repeated) || head.has(.foreign)
        var members = JSONValue.Object(
            minimumCapacity: reservation(tape.elements(head), MemoryLayout<(String, Int, JSONValue)>.stride))
        try forEachKey(of: object) { key in
            let name = keys.name(at: key, in: tape)
            if mayRepeat, members[name] != nil { return }
            members[name] = try jsonValue(at: key &+ 1, in: UInt32(truncatingIfNeeded: object))
        }
        return members
    }
}
