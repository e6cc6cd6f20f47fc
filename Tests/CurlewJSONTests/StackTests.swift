// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// Documents that nest as deep as allowed, on threads with little stack: a value or an error, never the end of the
/// process.
@Suite(.timeLimit(.minutes(1)))
struct StackTests {
    /// Asks for containers, where `Tree` asks for collections.
    private indirect enum Containers: Decodable {
        case scalar
        case array([Containers])
        case object([String: Containers])

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: AnyKey.self) {
                var members: [String: Containers] = [:]
                for key in container.allKeys {
                    members[key.stringValue] = try container.decode(Containers.self, forKey: key)
                }
                self = .object(members)
            } else if var container = try? decoder.unkeyedContainer() {
                var elements: [Containers] = []
                while !container.isAtEnd { elements.append(try container.decode(Containers.self)) }
                self = .array(elements)
            } else {
                self = .scalar
            }
        }
    }

    private struct Child: Decodable {
        let a: [Child]?
        let b: Indirect?
    }

    private final class Indirect: Decodable {
        let b: Indirect?
        let a: [Child]?
    }

    /// Goes down through containers alone, without a decoder for what is inside.
    private struct Nested: Decodable {
        var depth = 0

        private enum Keys: CodingKey { case b }

        init(from decoder: any Decoder) throws {
            depth = try Nested.depth(of: decoder.container(keyedBy: Keys.self))
        }

        private static func depth(of container: KeyedDecodingContainer<Keys>) throws -> Int {
            guard container.contains(.b) else { return 1 }
            return try 1 + depth(of: container.nestedContainer(keyedBy: Keys.self, forKey: .b))
        }
    }

    private static let documents: [String] = {
        func nested(_ open: String, _ close: String, _ depth: Int) -> String {
            String(repeating: open, count: depth) + String(repeating: close, count: depth)
        }
        return [
            nested("{\"b\":", "}", 511).replacingOccurrences(of: ":}", with: ":{}}"), nested("[", "]", 512),
            nested("[{\"a\":", "}]", 255).replacingOccurrences(of: ":}", with: ":[]}"),
            nested("{\"a\":[", "]}", 256),
        ]
    }()

    /// What came of a document on a thread of its own with this many bytes of stack.
    private static func outcomes(stack: Int, of work: @escaping @Sendable (Data) throws -> Void) -> [Bool] {
        documents.map { document in
            onThread(stack: stack) { try work(Data(document.utf8)) } != nil
        }
    }

    @Test(arguments: [128, 192, 256, 384, 512, 768, 1024])
    func smallStacksEndInAnErrorAtMost(kilobytes: Int) {
        let stack = kilobytes * 1024
        // It suffices that they come back.
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Tree.self, from: $0) }
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Containers.self, from: $0) }
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Child.self, from: $0) }
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Indirect.self, from: $0) }
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Nested.self, from: $0) }
        _ = Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(JSONValue.self, from: $0) }
        _ = Self.outcomes(stack: stack) {
            _ = try FastJSONDecoder(keys: .convertFromSnakeCase).decode(Tree.self, from: $0)
        }
    }

    @Test
    func largeStacksSufficeForAllLevels() {
        let stack = 16 << 20
        #expect(Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Tree.self, from: $0) } == Self.all)
        #expect(Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(Containers.self, from: $0) } == Self.all)
        #expect(Self.outcomes(stack: stack) { _ = try FastJSONDecoder().decode(JSONValue.self, from: $0) } == Self.all)
    }

    private static let all = [Bool](repeating: true, count: 4)

    /// Calls itself until the stack is nearly used up, and decodes there.
    private static func decode(_ data: Data, below end: UInt) throws -> Int {
        var frame = 1
        let here = withUnsafeMutablePointer(to: &frame) { UInt(bitPattern: $0) }
        if here > end { return try decode(data, below: end) + frame }
        _ = try FastJSONDecoder().decode(Tree.self, from: data)
        return frame
    }

    /// Where `decode` is called late, with this many kilobytes left beside the reserve.
    @Test(arguments: [-20, 0, 20, 60])
    func theCallItselfMayComeLate(left: Int) {
        let size = 1 << 20
        _ = Self.outcomes(stack: size) { data in
            var frame = 0
            let top = withUnsafeMutablePointer(to: &frame) { UInt(bitPattern: $0) }
            _ = try Self.decode(data, below: top - UInt(size - (64 + 16 + left) * 1024))
        }
    }

    @Test
    func theErrorSaysWhy() {
        let text = onThread(stack: 128 * 1024) {
            do {
                let data = Data(Self.documents[0].utf8)
                _ = try FastJSONDecoder().decode(Indirect.self, from: data)
                return "a value"
            } catch DecodingError.dataCorrupted(let context) {
                return "\(context.codingPath.count > 3) \(context.debugDescription)"
            }
        }
        let reason = "The stack of this thread has less than 64 KB left, too little to decode what stands deeper."
        #expect(text == "true \(reason)")
    }
}
