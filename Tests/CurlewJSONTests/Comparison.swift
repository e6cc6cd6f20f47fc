// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// What came of decoding: a value, or an error as far as the two decoders are meant to agree.
enum Outcome<Value: Equatable>: Equatable, CustomStringConvertible {
    case value(Value)
    case failure(Failure)

    init(_ work: () throws -> Value) {
        do {
            self = .value(try work())
        } catch {
            self = .failure(Failure(error))
        }
    }

    var description: String {
        switch self {
        case .value(let value): "\(value)"
        case .failure(let failure): "\(failure)"
        }
    }
}

/// Case, type, path and text of an error.
struct Failure: Equatable, CustomStringConvertible {
    var kind: String
    var path: [String] = []
    var text = ""

    init(_ error: any Error) {
        func names(_ path: [any CodingKey]) -> [String] { path.map(\.stringValue) }
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            (kind, path, text) = ("typeMismatch \(type)", names(context.codingPath), context.debugDescription)
        case DecodingError.valueNotFound(let type, let context):
            (kind, path, text) = ("valueNotFound \(type)", names(context.codingPath), context.debugDescription)
        case DecodingError.keyNotFound(let key, let context):
            kind = "keyNotFound \(key.stringValue)"
            (path, text) = (names(context.codingPath), context.debugDescription)
        case DecodingError.dataCorrupted(let context):
            (kind, path, text) = ("dataCorrupted", names(context.codingPath), context.debugDescription)
        default: kind = "\(error)"
        }
    }

    var description: String { "\(kind) at \(path): \(text)" }

    /// Numbers that do not fit: Foundation on Linux says that the document is no JSON, at no path.
    func isNumberThatDoesNotFit(beside other: Failure) -> Bool {
        kind == "dataCorrupted" && text.hasPrefix("Parsed JSON number <") && other.kind == "dataCorrupted"
            && other.text == "The given data was not valid JSON." && other.path.isEmpty
    }
}

/// Both decoders, set up alike.
struct Pair {
    let foundation = JSONDecoder()
    var fast = FastJSONDecoder()

    init() {}

    init(keys: FastJSONDecoder.KeyStrategy, dates: FastJSONDecoder.DateStrategy = .deferredToDate) {
        fast = FastJSONDecoder(keys: keys, dates: dates)
        if keys == .convertFromSnakeCase { foundation.keyDecodingStrategy = .convertFromSnakeCase }
        switch dates {
        case .secondsSince1970: foundation.dateDecodingStrategy = .secondsSince1970
        case .millisecondsSince1970: foundation.dateDecodingStrategy = .millisecondsSince1970
        case .iso8601: foundation.dateDecodingStrategy = .iso8601
        default: break
        }
    }

    /// The two outcomes; the first is Foundation's.
    func outcomes<Value: Decodable & Equatable>(
        _ type: Value.Type, _ data: Data
    ) -> (expected: Outcome<Value>, actual: Outcome<Value>) {
        (Outcome { try foundation.decode(type, from: data) }, Outcome { try fast.decode(type, from: data) })
    }

    /// Records an issue unless both give the same value, or the same error but for what is documented.
    func expectSame<Value: Decodable & Equatable>(
        _ type: Value.Type, _ text: String, _ note: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectSame(type, Data(text.utf8), note, sourceLocation: sourceLocation)
    }

    func expectSame<Value: Decodable & Equatable>(
        _ type: Value.Type, _ data: Data, _ note: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (expected, actual) = outcomes(type, data)
        if expected == actual { return }
        if case .failure(let mine) = actual, case .failure(let other) = expected,
            mine.isNumberThatDoesNotFit(beside: other)
        {
            return
        }
        Issue.record(
            "\(type) from \(String(decoding: data.prefix(400), as: UTF8.self)) \(note)\nFoundation: \(expected)\nCurlew: \(actual)",
            sourceLocation: sourceLocation)
    }
}

/// A key with any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
    init(_ name: String) { stringValue = name }
}
