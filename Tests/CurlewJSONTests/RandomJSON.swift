// SPDX-License-Identifier: MIT

/// Repeatable randomness (SplitMix64): the seed that a failing test prints gives the same documents again.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}

/// Any JSON value, read through the protocols of the standard library alone.
indirect enum Tree: Decodable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Tree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }
}

extension Tree: CustomStringConvertible {
    /// Members in order, so that equal values have equal texts.
    var description: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .int(let value): return "\(value)"
        case .double(let value): return "\(value)d"
        case .string(let value): return "\"\(value)\""
        case .array(let elements): return "\(elements)"
        case .object(let members):
            let texts = members.map { "\($0): \($1)" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return "{\(texts.joined(separator: ", "))}"
        }
    }
}

/// Makes documents with everything that JSON allows, in odd mixtures.
struct RandomJSON {
    var random: Seeded
    private let keys = [
        "a", "b", "c_d", "id", "name", "tags", "child", "map", "_x_y_", "é", "e\\u0301", "\\u0061", "K", "",
    ]

    init(seed: UInt64) { random = Seeded(seed) }

    mutating func document() -> String { space() + value(depth: 0) + space() }

    mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 6 : 9), using: &random) {
        case 0: return random.pick(["null", "true", "false"])
        case 1, 2: return number()
        case 3...5: return "\"\(string())\""
        case 6, 7:
            let members = (0..<count()).map { _ in "\"\(key())\"\(space()):\(space())\(value(depth: depth + 1))" }
            return "{\(space())\(members.joined(separator: "\(space()),\(space())"))\(space())}"
        default:
            let elements = (0..<count()).map { _ in value(depth: depth + 1) }
            return "[\(space())\(elements.joined(separator: "\(space()),\(space())"))\(space())]"
        }
    }

    private mutating func count() -> Int {
        random.chance(12) ? Int.random(in: 30..<40, using: &random) : Int.random(in: 0..<6, using: &random)
    }

    private mutating func key() -> String { random.chance(3) ? string() : random.pick(keys) }

    private mutating func space() -> String {
        random.chance(6) ? random.pick([" ", "\n", "\t", "\r\n", "  "]) : ""
    }

    mutating func string() -> String {
        let pieces = [
            "a", "Z", "hello", "_", "snake_case", "\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t", "\\u0041", "\\u00e9",
            "\\ud83d\\ude00", "\\u0000", "é", "漢字", "😀", "\u{7F}", "\u{10FFFF}", " ", "0123456789abcdef", "ß",
        ]
        return (0..<Int.random(in: 0..<5, using: &random)).map { _ in random.pick(pieces) }.joined()
    }

    /// Never a zero with an exponent, nor one that rounds to zero: Foundation refuses the first for its own reasons,
    /// and reads the second as the integer 0.
    mutating func number() -> String {
        let sign = random.chance(3) ? "-" : ""
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return sign + "0"
        case 1: return sign + String(Int.random(in: 1..<1000, using: &random))
        case 2: return sign + String(UInt64.random(in: 1 ... .max, using: &random))
        case 3: return random.pick(["9223372036854775807", "-9223372036854775808", "9223372036854775808", "-0"])
        case 4: return random.pick(["18446744073709551615", "18446744073709551616", "9007199254740993", "1e2", "1.0"])
        case 5:
            let exponent = Int.random(in: -300..<300, using: &random)
            return "\(sign)\(Int.random(in: 1..<1_000_000, using: &random))e\(exponent)"
        case 6: return sign + "\(Double.random(in: 0.1..<1e6, using: &random))"
        default:
            let digits = (0..<Int.random(in: 1..<30, using: &random)).map { _ in random.pick(Array("0123456789")) }
            return sign + "1." + String(digits) + random.pick(["", "E+5", "e-7", "E10"])
        }
    }
}
