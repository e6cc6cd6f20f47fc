// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation
import CurlewHTTP

extension HTTPCache.Entry {
    /// The encoded head, for stores that outlive the process. `init(encoded:)` decodes it.
    public var encoded: Data {
        var writer = ByteWriter()
        writer.number(Int64(Self.format))
        writer.number(id.number)
        writer.text(key.target)
        writer.text(key.content)
        writer.text(key.principal)
        writer.text(variant)
        writer.number(Int64(status.code))
        writer.number(Int64(version.major))
        writer.number(Int64(version.minor))
        writer.number(Int64(bitPattern: requestTime.timeIntervalSinceReferenceDate.bitPattern))
        writer.number(Int64(bitPattern: responseTime.timeIntervalSinceReferenceDate.bitPattern))
        writer.number(bodyLength)
        writer.fields(headers)
        writer.texts(tags)
        // Secrets declared in this process must also stay hidden when the next process lists a store.
        if let rules = key.secrets.rules {
            writer.texts(rules.secret.map(\.text))
            writer.texts(rules.harmless.map(\.text))
            writer.texts(rules.secretMembers)
            writer.texts(rules.secretPaths)
        }
        return writer.bytes
    }

    /// Decodes a head from the bytes of `encoded`. Returns nil for another version of the format, and for invalid
    /// bytes.
    public init?(encoded: Data) {
        guard let response = encoded.withUnsafeBytes({ Self.read($0) }) else { return nil }
        self = response
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> HTTPCache.Entry? {
        var reader = ByteReader(bytes)
        guard reader.number() == Int64(format), let id = reader.number(), let target = reader.text(),
            let content = reader.optionalText(), let principal = reader.optionalText(), let variant = reader.text(),
            let status = reader.smallNumber(), let major = reader.smallNumber(), let minor = reader.smallNumber(),
            let requestTime = reader.date(), let responseTime = reader.date(), let bodyLength = reader.number(),
            bodyLength >= 0, let headers = reader.fields(), let tags = reader.texts(), let secrets = reader.secrets(),
            reader.isAtEnd
        else { return nil }
        var response = HTTPCache.Entry(
            id: HTTPCache.Entry.ID(id),
            key: HTTPCache.Entry.Key(target: target, content: content, principal: principal, secrets: secrets),
            status: HTTPStatus(status), headers: headers,
            version: HTTPVersion(major: major, minor: minor), requestTime: requestTime,
            responseTime: responseTime, tags: Set(tags))
        response.variant = variant
        response.bodyLength = bodyLength
        return response
    }

    private static let format = 1
}

/// Writes eight-byte little-endian integers, and strings preceded by their length in bytes.
private struct ByteWriter {
    private(set) var bytes = Data()

    mutating func number(_ value: Int64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func text(_ value: String?) {
        guard let value else { return number(-1) }
        number(Int64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func texts(_ values: some Collection<String>) {
        number(Int64(values.count))
        for value in values.ordered(by: <) { text(value) }
    }

    mutating func fields(_ headers: HTTPHeaders) {
        number(Int64(headers.count))
        for field in headers {
            text(field.name.text)
            text(field.value)
        }
    }
}

/// Reads what `ByteWriter` has written, and checks every length against the remaining bytes.
private struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { remainder == 0 }

    private var remainder: Int { bytes.count - position }

    mutating func number() -> Int64? {
        guard remainder >= 8 else { return nil }
        defer { position += 8 }
        return Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Int64.self))
    }

    /// Reads a number as an `Int`; nil if it does not fit in an `Int` of this platform.
    mutating func smallNumber() -> Int? {
        number().flatMap { Int(exactly: $0) }
    }

    /// Reads an optional string. Returns nil if the bytes are malformed, and `.some(nil)` for an absent string.
    mutating func optionalText() -> String?? {
        guard let count = number() else { return nil }
        if count == -1 { return .some(nil) }
        guard count >= 0, count <= Int64(remainder) else { return nil }
        let end = position + Int(count)
        defer { position = end }
        return .some(String(decoding: UnsafeRawBufferPointer(rebasing: bytes[position..<end]), as: UTF8.self))
    }

    mutating func text() -> String? {
        optionalText() ?? nil
    }

    mutating func date() -> Date? {
        guard let bits = number() else { return nil }
        let seconds = Double(bitPattern: UInt64(bitPattern: bits))
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }

    mutating func texts() -> [String]? {
        guard let count = number(), count >= 0, count <= Int64(remainder / 8) else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// Reads the declared secrets; nil if the bytes are malformed. At the end of the bytes there are none, because only
    /// responses with declared secrets have this part.
    mutating func secrets() -> DeclaredSecrets? {
        if isAtEnd { return DeclaredSecrets.none }
        guard let secret = texts(), let harmless = texts(), let members = texts(), let paths = texts() else {
            return nil
        }
        return DeclaredSecrets(
            Redaction.Rules(
                harmless: Set(harmless.map { HTTPField.Name($0) }), secret: Set(secret.map { HTTPField.Name($0) }),
                secretMembers: Set(members), secretPaths: Set(paths)))
    }

    mutating func fields() -> HTTPHeaders? {
        guard let count = number(), count >= 0, count <= Int64(remainder / 16) else { return nil }
        var headers = HTTPHeaders()
        headers.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let name = text(), let value = text() else { return nil }
            headers.appendUnchecked(HTTPField(name: HTTPField.Name(name), value: value))
        }
        return headers
    }
}
