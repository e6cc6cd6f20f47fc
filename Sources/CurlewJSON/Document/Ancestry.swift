// SPDX-License-Identifier: MIT

/// The container of every entry and its number in there: what coding paths are made of.
///
/// Paths cost nothing until the first error, or the first model that asks. Then one pass answers all later ones, so that
/// a list with many elements that fail, one after the other, stays linear.
final class Ancestry {
    private let parents: [UInt32]
    private let numbers: [UInt32]

    init(of tape: Tape) {
        var parents: [UInt32] = []
        var numbers: [UInt32] = []
        parents.reserveCapacity(tape.count)
        numbers.reserveCapacity(tape.count)
        var open: [(container: Int, end: Int, next: UInt32)] = []
        for index in 0..<tape.count {
            while let last = open.last, index >= last.end { open.removeLast() }
            let entry = tape[index]
            let level = open.count - 1
            parents.append(level >= 0 ? UInt32(truncatingIfNeeded: open[level].container) : .max)
            numbers.append(level >= 0 ? open[level].next : 0)
            if level >= 0, entry.kind != .key { open[level].next += 1 }
            if entry.isContainer { open.append((index, entry.next, 0)) }
        }
        (self.parents, self.numbers) = (parents, numbers)
    }

    func parent(of index: Int) -> Int? { parents[index] == .max ? nil : Int(parents[index]) }

    func number(of index: Int) -> Int { Int(numbers[index]) }
}

extension Document {
    /// The keys from the root to a value; `key` takes the place of the last one.
    func path(to index: Int, _ key: (any CodingKey)? = nil) -> [any CodingKey] {
        let ancestry = ancestry
        var path: [any CodingKey] = []
        var index = index
        while let parent = ancestry.parent(of: index) {
            if path.isEmpty, let key { path.append(key) } else { path.append(pathKey(of: index, in: parent, ancestry)) }
            index = parent
        }
        path.reverse()
        return path
    }

    /// Containers keep theirs: what they hold may fail a million times below one long key.
    private func pathKey(of index: Int, in parent: Int, _ ancestry: Ancestry) -> PathKey {
        guard tape[parent].kind == .object else { return PathKey.index(ancestry.number(of: index)) }
        let isDictionary = tape[parent].has(.dictionary)
        guard tape[index].isContainer else { return memberKey(of: index, isDictionary) }
        if let known = pathKeys[index], known.isDictionary == isDictionary { return known.key }
        let key = memberKey(of: index, isDictionary)
        pathKeys[index] = (key, isDictionary)
        return key
    }

    private func memberKey(of index: Int, _ isDictionary: Bool) -> PathKey {
        guard isDictionary else { return PathKey.name(modelKey(at: index - 1)) }
        let key = text(at: index - 1)
        // As the key of `Dictionary` has it, which Foundation goes around where it converts keys.
        if !convertsKeys, let number = Int(key) { return PathKey.number(key, number) }
        return PathKey.name(key)
    }
}

/// A level of a coding path, small enough to stand in an array of any keys without a box.
enum PathKey: CodingKey {
    case name(String)
    case number(String, Int)
    case index(Int)

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .number(String(intValue), intValue) }

    var stringValue: String {
        switch self {
        case .name(let name), .number(let name, _): name
        case .index(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        switch self {
        case .name: nil
        case .number(_, let number), .index(let number): number
        }
    }

    static let `super` = PathKey.name("super")
}
