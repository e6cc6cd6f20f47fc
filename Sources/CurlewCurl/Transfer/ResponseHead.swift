// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// A response head, collected from the lines that libcurl delivers.
///
/// Interim responses (1xx) precede the head, and lines after it are trailers. Both are limited in size, and interim
/// responses are kept only if observers need them. The order, spelling and repetition of the fields are preserved.
/// Fields that could not be written again are rejected or repaired: names must be tokens, control bytes in values
/// become spaces, and folded lines are joined (RFC 9110 §5.5, RFC 9112 §5). Bytes that are not UTF-8 are read as
/// Latin-1. Noncopyable, because it is part of one transfer.
struct ResponseHead: ~Copyable {
    private(set) var status: HTTPStatus = 0
    private(set) var version = HTTPVersion.http1_1
    /// The reason phrase, at most 200 bytes; nil if there is none, as in HTTP/2.
    private(set) var reasonPhrase: String?
    private(set) var headers = HTTPHeaders()
    /// Whether the final head is complete.
    private(set) var isComplete = false
    /// The latest interim response, until it is taken.
    private(set) var interim: (status: HTTPStatus, headers: HTTPHeaders)?
    /// The trailers: the fields after the body.
    private(set) var trailers = HTTPHeaders()
    private let keepsInterim: Bool
    private let limits: Limits
    private var bytes = 0
    private var count = 0
    /// The latest field, which the next line may continue.
    private var open: HTTPField?
    /// Whether a field that determines the end of the body is folded. libcurl does not read its other lines.
    private var hasFoldedFraming = false

    /// Creates an empty head. With `keepsInterim`, the latest interim response is kept until it is taken.
    init(limits: Limits, keepsInterim: Bool = false) {
        self.limits = limits
        self.keepsInterim = keepsInterim
    }

    /// Processes one line including its line break, with `known` as a cache of parsed fields. Returns false if the head
    /// or the trailers exceed their limits.
    mutating func receive(_ line: UnsafeRawBufferPointer, _ known: FieldCache? = nil) -> Bool {
        bytes += line.count
        count += 1
        // The status line and the empty line are not fields. Adding 2 to the limit instead could overflow.
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
            let more = HTTP1FieldLine.value(line[..<end])
            if let field = open, !more.isEmpty {
                open = HTTPField(name: field.name, value: field.value + " " + more)
                if [.contentLength, .transferEncoding].contains(field.name) { hasFoldedFraming = true }
            }
        } else if end > 5, line.starts(with: "HTTP/".utf8) {
            beginHead(line[..<end])
        } else {
            closeField()
            let field = UnsafeRawBufferPointer(rebasing: line[..<end])
            open = (known.map { $0.field(field, HTTP1FieldLine.field) } ?? nil) ?? Self.field(field)
        }
        return true
    }

    /// Sets the head that a parser has read.
    mutating func accept(_ head: HTTP1ResponseHead) {
        (status, version, reasonPhrase, headers) = (head.status, head.version, head.reasonPhrase, head.headers)
        content = DeclaredContent(head)
        isComplete = true
    }

    /// Sets the trailers that a parser has read.
    mutating func accept(trailers: HTTPHeaders) {
        self.trailers = trailers
    }

    /// Returns and clears the latest interim response.
    mutating func takeInterim() -> (status: HTTPStatus, headers: HTTPHeaders)? {
        defer { interim = nil }
        return interim
    }

    /// The declared properties of the body, once the head is complete.
    private(set) var content = DeclaredContent()

    /// The content codings that the transport may decode; nil if there are none. Also nil for a partial response (206),
    /// because a part of an encoded representation cannot be decoded separately.
    var codings: [ContentCoding]? { status == .partialContent ? nil : content.codings }

    /// Returns the fields for the caller. If the transport has decoded the body, `Content-Encoding` and
    /// `Content-Length` are removed.
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
        hasFoldedFraming = false
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
        let remainder = text[(space + 1)...]
        guard version == .http1_1 || version == .http1_0, let end = remainder.firstIndex(of: 0x20) else { return }
        reasonPhrase = HTTP1FieldLine.reasonPhrase(text[(end + 1)...], for: status)
    }

    private mutating func endOfHead() {
        closeField()
        content = DeclaredContent(headers, isFolded: hasFoldedFraming)
        if isInterim {
            // Interim responses count towards the limits of the head that follows, which also limits their number.
            count -= 2
            if keepsInterim { interim = (status, headers) }
            headers = HTTPHeaders()
        } else {
            bytes = 0
            count = 0
            isComplete = true
        }
    }

    private mutating func receiveTrailer(_ lines: UnsafeRawBufferPointer) {
        // While receiving is paused, libcurl keeps several trailer lines and delivers them at once.
        for line in lines.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let first = line.first, !Self.isBlank(first) else { continue }
            if let field = Self.field(UnsafeRawBufferPointer(rebasing: line)) { trailers.appendUnchecked(field) }
        }
    }

    private var isInterim: Bool { status.isInformational && status.code != 101 }

    private mutating func closeField() {
        if let field = open { headers.appendUnchecked(field) }
        open = nil
    }

    /// Parses a field. Returns nil if the line is not a field or its name is invalid. Blanks before the colon are not
    /// part of the name, as for libcurl.
    private static func field(_ line: UnsafeRawBufferPointer) -> HTTPField? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let last = line[..<colon].lastIndex(where: { !isBlank($0) })
        else { return nil }
        return (Array(line[...last]) + line[colon...]).withUnsafeBytes(HTTP1FieldLine.field)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }
}
#endif
