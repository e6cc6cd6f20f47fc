// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// Collects a response head from the lines libcurl hands over.
///
/// Interim answers (1xx) go before the head, and lines after it are trailers: both are bounded, and interim
/// answers are kept only for those who want to hear of them. Order, spelling and repetition of the fields stay as they came. What could not be written
/// again is not let in either: names are tokens, control bytes in values become spaces, folded lines become one
/// (RFC 9110 §5.5, RFC 9112 §5). Bytes that are not UTF-8 are read as Latin-1. Never copied: it is a part of its
/// transfer.
struct ResponseHead: ~Copyable {
    private(set) var status: HTTPStatus = 0
    private(set) var version = HTTPVersion.http1_1
    /// The words behind the status; nil without any.
    private(set) var reasonPhrase: String?
    private(set) var headers = HTTPHeaders()
    /// The final head is complete.
    private(set) var isComplete = false
    /// The latest interim answer, until somebody takes it.
    private(set) var interim: (status: HTTPStatus, headers: HTTPHeaders)?
    /// The fields after the body.
    private(set) var trailers = HTTPHeaders()
    private let keepsInterim: Bool
    private let limits: Limits
    private var bytes = 0
    private var count = 0
    /// The latest field: the next line may continue it.
    private var open: HTTPField?

    /// With `keepsInterim`, interim answers are kept.
    init(limits: Limits, keepsInterim: Bool = false) {
        self.limits = limits
        self.keepsInterim = keepsInterim
    }

    /// Takes one line with its line break, with fields that came before. False when the head, or the trailers, are over
    /// their limits.
    mutating func receive(_ line: UnsafeRawBufferPointer, _ known: FieldCache? = nil) -> Bool {
        bytes += line.count
        count += 1
        // Two lines are not fields: the status line and the empty one. The limit may be the largest number that there is.
        guard bytes <= limits.headerBytes, count - 2 <= limits.headerCount else { return false }
        guard !isComplete else {
            receiveTrailer(line)
            return true
        }
        var end = line.count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        if end == 0 {
            endOfHead()
        } else if Self.isBlank(line[0]) {
            if let field = open, let more = Self.trimmed(line[..<end]) {
                open = HTTPField(name: field.name, value: field.value + " " + Self.text(more))
            }
        } else if end > 5, line.starts(with: "HTTP/".utf8) {
            beginHead(line[..<end])
        } else {
            closeField()
            let field = UnsafeRawBufferPointer(rebasing: line[..<end])
            open = known.map { $0.field(field, Self.field) } ?? Self.field(field)
        }
        return true
    }

    /// The interim answer that came last, once.
    mutating func takeInterim() -> (status: HTTPStatus, headers: HTTPHeaders)? {
        defer { interim = nil }
        return interim
    }

    /// What the head tells about its body, once it is complete.
    private(set) var content = DeclaredContent()

    /// What the engine may undo. A part of a coded form (206) cannot be decoded by itself.
    var codings: [ContentCoding]? { status == .partialContent ? nil : content.codings }

    /// The fields as the caller sees them: what the engine decoded no longer claims to be encoded.
    func deliveredHeaders(decoded: Bool, method: HTTPMethod) -> HTTPHeaders {
        guard decoded, method != .head, codings != nil else { return headers }
        var result = headers
        result.remove(.contentEncoding)
        result.remove(.contentLength)
        return result
    }

    private mutating func beginHead(_ text: Slice<UnsafeRawBufferPointer>) {
        headers = HTTPHeaders()
        headers.reserveCapacity(12)
        open = nil
        switch text[5] {
        case UInt8(ascii: "2"): version = .http2
        case UInt8(ascii: "3"): version = .http3
        default: version = text.count >= 8 && text[7] == UInt8(ascii: "0") ? .http1_0 : .http1_1
        }
        var code = 0
        reasonPhrase = nil
        guard let space = text.firstIndex(of: 0x20) else { return }
        for byte in text[(space + 1)...].prefix(3) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
        }
        status = HTTPStatus(code)
        let rest = text[(space + 1)...]
        guard version == .http1_1 || version == .http1_0, let end = rest.firstIndex(of: 0x20) else { return }
        reasonPhrase = Self.trimmed(text[(end + 1)...]).map { Self.words($0, for: status) }
    }

    /// The registered words need no new string.
    private static func words(_ bytes: Slice<UnsafeRawBufferPointer>, for status: HTTPStatus) -> String {
        let registered = status.reasonPhrase
        return bytes.elementsEqual(registered.utf8) ? registered : text(bytes.prefix(phraseLimit))
    }

    private static let phraseLimit = 200

    private mutating func endOfHead() {
        closeField()
        content = DeclaredContent(headers)
        if isInterim {
            // Interim answers count together with the head that follows, so that there cannot be any number of them.
            count -= 2
            if keepsInterim { interim = (status, headers) }
            headers = HTTPHeaders()
        } else {
            bytes = 0
            count = 0
            isComplete = true
        }
    }

    private mutating func receiveTrailer(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first, !Self.isBlank(first) else { return }
        let end = line.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
        guard end > 0, let field = Self.field(UnsafeRawBufferPointer(rebasing: line[..<end])) else { return }
        trailers.appendUnchecked(field)
    }

    private var isInterim: Bool { status.isInformational && status.code != 101 }

    private mutating func closeField() {
        if let field = open { headers.appendUnchecked(field) }
        open = nil
    }

    /// Nil for what is no field, or has a name that could not be written again.
    private static func field(_ line: UnsafeRawBufferPointer) -> HTTPField? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let name = trimmed(line[..<colon]) else { return nil }
        let field = HTTPField(name: HTTPField.Name(text(name)), value: trimmed(line[(colon + 1)...]).map(text) ?? "")
        return field.name.isValid ? field : nil
    }

    /// Without the blanks around it; nil when nothing is left.
    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return nil }
        return bytes[first...last]
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        var isPlain = true
        for byte in buffer {
            if isControl(byte) { return buffer.map { isControl($0) ? 0x20 : $0 }.withUnsafeBytes { text($0[...]) } }
            if byte >= 0x80 { isPlain = false }
        }
        // The validating initialiser is several times slower, and ASCII is always valid.
        if isPlain { return String(decoding: buffer, as: UTF8.self) }
        return String(validating: buffer, as: UTF8.self)
            ?? String(String.UnicodeScalarView(buffer.map { Unicode.Scalar($0) }))
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != 0x09) || byte == 0x7F
    }
}
#endif
