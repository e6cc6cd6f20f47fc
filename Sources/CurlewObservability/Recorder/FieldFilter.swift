// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Redacts heads of messages fast, because a recorder does so for every request.
///
/// Whether a field is secret depends on its name only, and requests repeat the same names. A small table therefore
/// keeps the verdicts. A head without secret fields is returned without a copy.
struct FieldFilter {
    private enum Verdict: UInt8 {
        case shown, secret, url
    }

    private struct Entry {
        var name: String
        var verdict: Verdict
    }

    let redaction: Redaction
    /// One entry for each value of `place`. A server that sends many names replaces entries, and the table does not
    /// grow.
    private var table = [Entry?](repeating: nil, count: 256)
    /// The last URL that contains nothing to redact, with its origin and target.
    private var last: (origin: Origin, target: String, url: String)?

    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// Returns the headers with secret values replaced, and without declarations.
    mutating func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        var isClean = true
        for field in headers where verdict(on: field.name.text) != .shown {
            isClean = false
            break
        }
        if isClean { return headers }
        var result = HTTPHeaders()
        result.reserveCapacity(headers.count)
        for field in headers {
            switch verdict(on: field.name.text) {
            case .shown: result.appendUnchecked(field)
            case .secret: result.appendUnchecked(name: field.name.text, value: Redaction.mark)
            case .url: result.appendUnchecked(name: field.name.text, value: redaction.url(field.value))
            }
        }
        return result
    }

    /// Returns the redacted URL of the request.
    mutating func url(of request: HTTPRequest) -> String {
        if let last, last.target == request.target, last.origin == request.origin { return last.url }
        let url = request.urlString
        let isPlain =
            redaction.pathPatterns.isEmpty && request.target.firstByte(where: { "?;#@".utf8.contains($0) }) == nil
        guard isPlain else { return redaction.url(url) }
        last = (request.origin, request.target, url)
        return url
    }

    private mutating func verdict(on name: String) -> Verdict {
        let place = Self.place(of: name)
        if let entry = table[place], entry.name == name { return entry.verdict }
        let field = HTTPField.Name(name)
        let verdict: Verdict =
            redaction.isSecret(header: field) ? .secret : Redaction.urlHeaders.contains(field) ? .url : .shown
        table[place] = Entry(name: name, verdict: verdict)
        return verdict
    }

    /// Returns the place of a name in the table. It is much cheaper than a hash, and differs for most names of fields.
    private static func place(of name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 0 }
            let middle = bytes[bytes.count / 2]
            return (Int(first) &* 7 &+ Int(middle) &* 31 &+ Int(last) &* 3 &+ bytes.count &* 13) & 255
        }
    }
}
