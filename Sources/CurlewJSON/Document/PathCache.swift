// SPDX-License-Identifier: MIT

/// A cache of the most recently requested coding path.
///
/// The next path usually differs only in its last key and is then created in one step. Without the cache, each invalid
/// element of a list would take time proportional to its depth.
///
/// While an error retains a path, the next path is a copy of it; the path of a released error is changed in place.
struct PathCache {
    /// The containers from the root to the one that has the last key.
    private var containers: [UInt32] = []
    /// The key of the path in each container.
    private var keys: [any CodingKey] = []
    /// The array element whose index was requested last.
    private var cursor: (array: Int, element: Int, number: Int) = (-1, 0, 0)

    /// Returns the keys from the root to the value at `index`. `key` replaces the last of them.
    mutating func path(
        to index: Int, in parent: UInt32, _ key: (any CodingKey)?, _ document: Document
    ) -> [any CodingKey] {
        guard parent != Tape.noParent else { return [] }
        enter(parent, document)
        keys[keys.count - 1] = key ?? self.key(of: index, in: Int(parent), document)
        return keys
    }

    /// Removes containers until the last one is `container` or a container that may contain it. Also called when the
    /// keys in the path change because reading `container` as a dictionary begins or ends.
    mutating func leave(to container: UInt32) {
        while let last = containers.last, last > container {
            containers.removeLast()
            keys.removeLast()
        }
    }

    /// Makes `container` the last of the containers. A container has a greater index than the containers around it.
    private mutating func enter(_ container: UInt32, _ document: Document) {
        var missing: [UInt32] = []
        var next = container
        while true {
            leave(to: next)
            if containers.last == next { break }
            missing.append(next)
            let parent = document.tape.parent(of: Int(next))
            if parent == Tape.noParent { break }
            next = parent
        }
        while let child = missing.popLast() {
            if let parent = containers.last {
                keys[keys.count - 1] = key(of: Int(child), in: Int(parent), document)
            }
            containers.append(child)
            keys.append(PathKey.index(0))
        }
    }

    private mutating func key(of index: Int, in parent: Int, _ document: Document) -> PathKey {
        guard document.tape[parent].kind == .object else {
            return PathKey.index(number(of: index, in: parent, document.tape))
        }
        if document.convertsKeys, DictionaryFrame.isReading(parent, of: document) {
            return PathKey.name(document.keys.text(at: index - 1, in: document.tape))
        }
        return PathKey.name(document.keys.name(at: index - 1, in: document.tape))
    }

    private mutating func number(of index: Int, in array: Int, _ tape: Tape) -> Int {
        var (element, number) = ElementIndex.nearest(to: index, in: array, tape)
        if cursor.array == array, element < cursor.element, cursor.element <= index {
            (element, number) = (cursor.element, cursor.number)
        }
        while element < index {
            element = tape.index(after: element)
            number += 1
        }
        cursor = (array, element, number)
        return number
    }
}

extension Document {
    /// Returns the keys from the root to a container.
    func path(to container: Int) -> [any CodingKey] { path(to: container, in: tape.parent(of: container)) }

    /// Returns the keys from the root to a value in `parent`. `key` replaces the last of them.
    func path(to index: Int, in parent: UInt32, _ key: (any CodingKey)? = nil) -> [any CodingKey] {
        if isConfined { return paths.path(to: index, in: parent, key, self) }
        var paths = PathCache()
        return paths.path(to: index, in: parent, key, self)
    }
}

/// An element of a coding path, small enough to be stored in an existential without a box.
enum PathKey: CodingKey {
    case name(String)
    case index(Int)

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .name(let name): name
        case .index(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        switch self {
        case .name: nil
        case .index(let number): number
        }
    }

    static let `super` = PathKey.name("super")
}
