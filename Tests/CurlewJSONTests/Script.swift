// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation

/// A model that does with its decoder what a generator of random numbers says, and writes down what came of it.
struct Script: Decodable, Equatable {
    private(set) var trace: [String] = []

    static let seed = CodingUserInfoKey(rawValue: "seed") ?? CodingUserInfoKey(rawValue: "")

    static let names = [
        "a", "b", "cD", "c_d", "id", "name", "tags", "child", "map", "_x_y_", "_xY_", "é", "K", "", "absent",
        "firstName",
        "K2", "k10", "k35",
    ]

    init(from decoder: any Decoder) throws {
        let seed = Script.seed.flatMap { decoder.userInfo[$0] as? UInt64 } ?? 0
        var run = Run(random: Seeded(seed))
        run.read(decoder, depth: 0)
        trace = run.trace
    }

    /// A step that Foundation reports in its own words when a number does not fit: with an error of its own, at no
    /// path.
    fileprivate static func described(_ error: any Error) -> String {
        let failure = Failure(error)
        let isMisfit =
            failure.text.hasPrefix("Parsed JSON number <") || failure.kind.contains("numberIsNotRepresentable")
            || failure.text == "The given data was not valid JSON."
        return isMisfit ? "a number that does not fit" : "\(failure)"
    }
}

private struct Run {
    var random: Seeded
    var trace: [String] = []

    mutating func note(_ work: () throws -> String) {
        do {
            trace.append(try work())
        } catch {
            trace.append(Script.described(error))
        }
    }

    private static func path(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: "/") }

    mutating func read(_ decoder: any Decoder, depth: Int) {
        note { Run.path(decoder.codingPath) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: readSingle(decoder)
        case 1, 2:
            do {
                readUnkeyed(try decoder.unkeyedContainer(), depth: depth)
            } catch {
                trace.append(Script.described(error))
                readSingle(decoder)
            }
        default:
            do {
                readKeyed(try decoder.container(keyedBy: AnyKey.self), depth: depth)
            } catch {
                trace.append(Script.described(error))
                readSingle(decoder)
            }
        }
    }

    private mutating func readSingle(_ decoder: any Decoder) {
        let kind = Int.random(in: 0..<18, using: &random)
        note {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() { return "nil" }
            return try Run.value(kind, Single(container: container))
        }
    }

    private mutating func readKeyed(_ container: KeyedDecodingContainer<AnyKey>, depth: Int) {
        for _ in 0..<Int.random(in: 1..<7, using: &random) {
            let key = AnyKey(random.pick(Script.names))
            let kind = Int.random(in: 0..<18, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: trace.append("\(container.contains(key))")
            case 1: note { "\(try container.decodeNil(forKey: key))" }
            case 2: trace.append(container.allKeys.map(\.stringValue).sorted().joined(separator: ","))
            case 3...6: note { try Run.value(kind, Keyed(container: container, key: key)) }
            case 7, 8: note { try Run.value(kind, KeyedIfPresent(container: container, key: key)) }
            case 9 where depth < 3:
                do {
                    let nested = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    readKeyed(nested, depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            case 10 where depth < 3:
                do {
                    readUnkeyed(try container.nestedUnkeyedContainer(forKey: key), depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            case 11 where depth < 3:
                do {
                    let decoder = try random.chance(2) ? container.superDecoder() : container.superDecoder(forKey: key)
                    read(decoder, depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            default: note { Run.path(container.codingPath) }
            }
        }
    }

    private mutating func readUnkeyed(_ container: any UnkeyedDecodingContainer, depth: Int) {
        var container = container
        for _ in 0..<Int.random(in: 1..<7, using: &random) {
            trace.append("\(container.currentIndex) \(container.isAtEnd) \(container.count ?? -1)")
            let kind = Int.random(in: 0..<18, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: note { "\(try container.decodeNil())" }
            case 1...4:
                var reader = Unkeyed(container: container)
                note { try Run.value(kind, &reader) }
                container = reader.container
            case 5 where depth < 3:
                do {
                    readKeyed(try container.nestedContainer(keyedBy: AnyKey.self), depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            case 6 where depth < 3:
                do {
                    readUnkeyed(try container.nestedUnkeyedContainer(), depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            case 7 where depth < 3:
                do {
                    read(try container.superDecoder(), depth: depth + 1)
                } catch { trace.append(Script.described(error)) }
            default: note { Run.path(container.codingPath) }
            }
        }
    }

    private static func value(_ kind: Int, _ reader: some Reader) throws -> String {
        var reader = reader
        return try value(kind, &reader)
    }

    /// Dates are left out: Foundation reports theirs at the path of the parent.
    private static func value(_ kind: Int, _ reader: inout some Reader) throws -> String {
        switch kind {
        case 0: try reader.read(Bool.self)
        case 1: try reader.read(Int.self)
        case 2: try reader.read(String.self)
        case 3: try reader.read(Double.self)
        case 4: try reader.read(UInt8.self)
        case 5: try reader.read(Float.self)
        case 6: try reader.read(UInt64.self)
        case 7: try reader.read(Int32.self)
        case 8: try reader.read([Int].self)
        case 9: try reader.read([String].self)
        case 10: try reader.read([[Double?]].self)
        case 11: try reader.read(Optional<Int>.self)
        case 12: try reader.read(Decimal.self)
        case 13: try reader.read(URL.self)
        case 14: try reader.read(Data.self)
        case 15: try reader.read(JSONValue.self)
        case 16: try reader.read([String?].self)
        default: try reader.read(Tree.self)
        }
    }
}

/// One way to ask for a value.
private protocol Reader {
    mutating func value<Value: Decodable>(_ type: Value.Type) throws -> Value?
}

extension Reader {
    fileprivate mutating func read<Value: Decodable & Equatable>(_ type: Value.Type) throws -> String {
        "\(try value(type).map { "\($0)" } ?? "-")"
    }
}

private struct Single: Reader {
    let container: any SingleValueDecodingContainer
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value? { try container.decode(type) }
}

private struct Keyed: Reader {
    let container: KeyedDecodingContainer<AnyKey>
    let key: AnyKey
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value? { try container.decode(type, forKey: key) }
}

private struct KeyedIfPresent: Reader {
    let container: KeyedDecodingContainer<AnyKey>
    let key: AnyKey
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        try container.decodeIfPresent(type, forKey: key)
    }
}

private struct Unkeyed: Reader {
    var container: any UnkeyedDecodingContainer
    mutating func value<Value: Decodable>(_ type: Value.Type) throws -> Value? { try container.decode(type) }
}
