// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// Collects a response head from the lines libcurl hands over.
///
/// Interim answers (1xx) are dropped, the lines after the final head are trailers. Order, case and repetition of the
/// fields stay as they came. Bytes that are not UTF-8 are read as Latin-1, as RFC 9110 §5.5 suggests.
struct ResponseHead {
    private(set) var status: HTTPStatus = 0
    private(set) var version = HTTPVersion.http1_1
    private(set) var headers: HTTPHeaders = [:]
    private(set) var trailers: HTTPHeaders = [:]
    /// The final head is complete.
    private(set) var isComplete = false
    private let limits: Limits
    private var bytes = 0
    private var count = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// Takes one line with its line break. False when the head is over its limits.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        bytes += line.count
        count += 1
        // Two lines are not fields: the status line and the empty one.
        guard bytes <= limits.headerBytes, count <= limits.headerCount + 2 else { return false }
        var end = line.count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        if isComplete {
            if let field = Self.field(line, end: end) { trailers.appendUnchecked(name: field.0, value: field.1) }
        } else if end == 0 {
            endOfHead()
        } else if end >= 5, line.starts(with: "HTTP/".utf8) {
            beginHead(line, end: end)
        } else {
            if let field = Self.field(line, end: end) { headers.appendUnchecked(name: field.0, value: field.1) }
        }
        return true
    }

    /// The length of the body as declared, if it is a number.
    var contentLength: Int64? {
        headers[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The fields as the caller sees them: what libcurl decoded no longer claims to be encoded.
    func deliveredHeaders(decoded: Bool, method: HTTPMethod) -> HTTPHeaders {
        guard decoded, method != .head, headers.contains(.contentEncoding) else { return headers }
        var result = headers
        result.remove(.contentEncoding)
        result.remove(.contentLength)
        return result
    }

    private mutating func beginHead(_ line: UnsafeRawBufferPointer, end: Int) {
        headers = [:]
        let text = line[..<end]
        switch text[5] {
        case UInt8(ascii: "2"): version = .http2
        case UInt8(ascii: "3"): version = .http3
        default: version = end >= 8 && text[7] == UInt8(ascii: "0") ? .http1_0 : .http1_1
        }
        var code = 0
        guard let space = text.firstIndex(of: 0x20) else { return }
        for byte in text[(space + 1)...].prefix(3) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
        }
        status = HTTPStatus(code)
    }

    private mutating func endOfHead() {
        if status.isInformational, status.code != 101 {
            headers = [:]
            bytes = 0
            count = 0
        } else {
            isComplete = true
        }
    }

    private static func field(_ line: UnsafeRawBufferPointer, end: Int) -> (String, String)? {
        guard let colon = line[..<end].firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
        var start = colon + 1
        var last = end
        while start < last, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while last > start, line[last - 1] == 0x20 || line[last - 1] == 0x09 { last -= 1 }
        return (text(line[..<colon]), text(line[start..<last]))
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        return String(validating: buffer, as: UTF8.self)
            ?? String(String.UnicodeScalarView(buffer.map { Unicode.Scalar($0) }))
    }
}
#endif
