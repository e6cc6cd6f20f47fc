// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NumberTests {
    private static let literals = [
        "0", "-0", "0.0", "-0.0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "300", "32767", "32768",
        "65535", "65536", "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296", "9007199254740991",
        "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1.0", "1.5", "1e2", "1E+2", "100e-2",
        "34.5", "1e18", "1e19", "1e20", "1e400", "-1e400", "1.7976931348623157e308", "1.7976931348623159e308",
        "4.9e-324", "5e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308",
        "3.4028235e38", "3.4028236e38", "1e-45", "7.006492321624086e-46", "16777217", "0.1", "0.3", "1e23",
        "8.41e21", "9007199254740993e0", "123456789012345678901234567890", "0.00000000000000000000000000001",
        "12345678901234567890.25", "10000000000000000000", "1234567890123456789012e-3",
        "340282366920938463463374607431768211455", "-170141183460469231731687303715884105728",
    ]

    @Test(arguments: literals)
    func literalsFitTheSameTypes(literal: String) {
        let pair = Pair()
        for text in [literal, "[\(literal)]"] {
            let isList = text != literal
            func check<Value: Decodable & Equatable>(_ type: Value.Type) {
                if isList { pair.expectSame([Value].self, text) } else { pair.expectSame(type, text) }
            }
            check(Int.self)
            check(Int8.self)
            check(Int16.self)
            check(Int32.self)
            check(Int64.self)
            check(UInt.self)
            check(UInt8.self)
            check(UInt16.self)
            check(UInt32.self)
            check(UInt64.self)
            check(Double.self)
            check(Float.self)
            check(Decimal.self)
            check(Bool.self)
            if #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *) {
                // By way of Decimal, Foundation gets no further than 64 bits where there is an exponent.
                guard !["1e20", "1e23", "8.41e21", "3.4028235e38", "3.4028236e38"].contains(literal) else { continue }
                check(Int128.self)
                check(UInt128.self)
            }
        }
    }

    /// Every bit of the result, against the standard library: from the digits of random patterns, from more digits than
    /// they need, and from halves between neighbours.
    @Test(arguments: 1...4)
    func doublesAreTheNearest(seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var texts: [String] = []
        while texts.count < 6_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite, value != 0 else { continue }
            texts.append("\(value)")
            texts.append(String(format: "%.\(Int.random(in: 14..<25, using: &random))e", value))
            let digits = UInt64.random(in: 1...9_999_999_999_999_999_999, using: &random)
            texts.append("\(digits)e\(Int.random(in: -320..<290, using: &random))")
            texts.append("\(digits >> UInt64.random(in: 0..<64, using: &random) | 1)e\(random.pick([-3, 2, 19, 23]))")
            texts.append("\((digits >> 10 | 1 << 53) & ~1 | 1)")
        }
        let decoded = try FastJSONDecoder().decode([Double].self, from: Data("[\(texts.joined(separator: ","))]".utf8))
        for (text, value) in zip(texts, decoded) {
            #expect(Double(text)?.bitPattern == value.bitPattern, "\(text), seed \(seed)")
        }
    }

    @Test(arguments: 1...2)
    func floatsAreRoundedOnce(seed: Int) throws {
        var random = Seeded(70 + UInt64(seed))
        var texts: [String] = []
        while texts.count < 4_000 {
            let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            guard value.isFinite, value != 0, value.nextUp.isFinite else { continue }
            texts.append("\(value)")
            // Half way to the next one, exactly, and a little beside it.
            guard abs(Double(value)) > 1e-30, abs(Double(value)) < 1e30 else { continue }
            texts.append(String(format: "%.60e", (Double(value) + Double(value.nextUp)) / 2))
            texts.append(String(format: "%.60f1", (Double(value) + Double(value.nextUp)) / 2))
        }
        let decoded = try FastJSONDecoder().decode([Float].self, from: Data("[\(texts.joined(separator: ","))]".utf8))
        for (text, value) in zip(texts, decoded) {
            #expect(Float(text)?.bitPattern == value.bitPattern, "\(text), seed \(seed)")
        }
    }

    @Test
    func longTextsRoundAsTheirShortForms() throws {
        let zeros = String(repeating: "0", count: 5_000)
        let ones = String(repeating: "1", count: 5_000)
        let cases = [
            "1\(zeros)e-5000": 1.0, "0.\(zeros)1e5001": 1, "1.\(zeros)1": 1, "1\(zeros).5e-5000": 1,
            "0.\(ones)": 0.1111111111111111, "9007199254740993.\(zeros)1": 9007199254740994, "-0.\(zeros)": -0.0,
        ]
        for (text, value) in cases {
            let decoded = try FastJSONDecoder().decode(Double.self, from: Data(text.utf8))
            #expect(decoded == value && decoded.sign == value.sign, "\(text.prefix(20))…")
        }
        #expect(try FastJSONDecoder().decode(Int.self, from: Data("12\(zeros)e-5000".utf8)) == 12)
    }

    /// Where Foundation is wrong, and we are not.
    @Test
    func exactWhereFoundationIsNot() throws {
        let decoder = FastJSONDecoder()
        #expect(try decoder.decode(Double.self, from: Data("0.00E2".utf8)) == 0)
        #expect(try decoder.decode(Int.self, from: Data("0e9".utf8)) == 0)
        #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: Data("1e-400".utf8)) }
        for text in ["1.0000000000000001", "9.999999999999999999999999999", "1844674407370955161.5"] {
            #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: Data(text.utf8)) }
        }
        if #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *) {
            #expect(try decoder.decode(Int128.self, from: Data("-1e20".utf8)) == -100_000_000_000_000_000_000)
            #expect(throws: DecodingError.self) { try decoder.decode(Int128.self, from: Data("2e38".utf8)) }
        }
        #expect(throws: DecodingError.self) { try decoder.decode(Double.self, from: Data("1e-400".utf8)) }
    }

    /// The differences that the page JSON names, on both sides.
    @Test
    func documentedDifferencesAreAsDocumented() throws {
        func values<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) -> [Value?] {
            let (expected, actual) = Pair().outcomes(type, Data(text.utf8))
            return [expected, actual].map { if case .value(let value) = $0 { value } else { nil } }
        }
        #expect(values(Int64.self, "-9223372036854775808.0") == [nil, .min])
        #expect(values(Int64.self, "9007199254740992.5") == [9_007_199_254_740_992, nil])
        #expect(values(Int64.self, "-4640103783748609.83") == [-4_640_103_783_748_610, nil])
        #expect(values(Int64.self, "1844674407370955161.5") == [1_844_674_407_370_955_161, nil])
        #expect(values(Int64.self, "1e-400") == [0, nil])
        #expect(values(Double.self, "1e-400") == [nil, nil])
        #expect(values(Double.self, "0.00E2") == [nil, 0])
        if #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *) {
            #expect(values(Int128.self, "1e20") == [nil, 100_000_000_000_000_000_000])
            #expect(values(UInt128.self, "3.4028236e38") == [nil, 340_282_360_000_000_000_000_000_000_000_000_000_000])
            #expect(
                values(Int128.self, "-9999999999999999999") == [-9_999_999_999_999_999_999, -9_999_999_999_999_999_999])
        }
    }

    /// Decimals of the tape and decimals of text, beside Foundation's.
    @Test(arguments: 1...4)
    func decimalsAreTheSame(seed: Int) {
        var random = Seeded(500 + UInt64(seed))
        let pair = Pair()
        for _ in 0..<400 {
            let whole = (0..<Int.random(in: 1..<45, using: &random)).map { _ in random.pick(Array("0123456789")) }
            let fraction = (0..<Int.random(in: 0..<45, using: &random)).map { _ in random.pick(Array("00123456789")) }
            var text = random.pick(["", "-"]) + String(whole.drop { $0 == "0" })
            if text.isEmpty || text == "-" { text += "0" }
            if !fraction.isEmpty { text += "." + String(fraction) }
            let hasDigits = text.contains { "123456789".contains($0) }
            if hasDigits, random.chance(2) { text += "e\(Int.random(in: -140..<140, using: &random))" }
            pair.expectSame(Decimal.self, text, "(seed \(seed))")
            pair.expectSame([Decimal?].self, "[\(text),null]", "(seed \(seed))")
        }
    }

    /// An error inside of a model is what it is outside.
    @Test
    func aModelMayCatchANumberThatDoesNotFit() throws {
        struct Lenient: Decodable {
            let caught: String
            init(from decoder: any Decoder) throws {
                do {
                    _ = try decoder.singleValueContainer().decode(UInt8.self)
                    caught = "nothing"
                } catch DecodingError.dataCorrupted(let context) {
                    caught = context.debugDescription
                }
            }
        }
        let lenient = try FastJSONDecoder().decode(Lenient.self, from: Data("300".utf8))
        #expect(lenient.caught == "Parsed JSON number <300> does not fit in UInt8.")
    }

    @Test
    func aNumberThatDoesNotFitNamesItsPath() {
        let data = Data("{\"a\":[1,300]}".utf8)
        guard case .failure(let failure) = Outcome({ try FastJSONDecoder().decode([String: [UInt8]].self, from: data) })
        else {
            Issue.record("300 fits in UInt8")
            return
        }
        #expect(failure.kind == "dataCorrupted")
        #expect(failure.path == ["a", "Index 1"])
        #expect(failure.text == "Parsed JSON number <300> does not fit in UInt8.")
    }
}
