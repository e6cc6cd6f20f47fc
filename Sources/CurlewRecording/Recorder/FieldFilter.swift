// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Redacts heads of messages fast, because a recorder does so for every request.
///
/// Whether a field is secret depends on its name only, and requests repeat the same names. A small table therefore
/// keeps the verdicts. A head without secret fields and URLs is returned without a copy. The filter itself is not
/// copied for each use either, because it is an object; the lock of its recorder protects it.
final class FieldFilter {
    private enum Verdict: UInt8 {
        case shown, secret, url
    }

    private struct Entry {
        var name = ""
        var verdict = Verdict.shown
    }

    let redaction: Redaction
    /// The entry of a name is at its hash, or in one of the next three slots. A server that sends many names replaces
    /// entries, and the table does not grow.
    @exclusivity(unchecked) private var table = [Entry](repeating: Entry(), count: 256)
    private var nextReplaced = 0

    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// Returns the headers with secret values replaced, and without declarations, and an estimate of their memory.
    func headers(_ headers: HTTPHeaders) -> (headers: HTTPHeaders, size: Int) {
        var size = 0
        let changed = headers.first { field in
            let name = field.name.text
            size += name.utf8.count + field.value.utf8.count + 64
            return verdict(on: name) != .shown || redaction.mayHide(in: field.value)
        }
        guard changed != nil else { return (headers, size) }
        size = 0
        var result = HTTPHeaders()
        result.reserveCapacity(headers.count)
        for field in headers {
            size += field.name.text.utf8.count + field.value.utf8.count + 64
            switch verdict(on: field.name.text) {
            case .shown where !redaction.mayHide(in: field.value): result.appendUnchecked(field)
            case .secret: result.appendUnchecked(HTTPField(name: field.name, value: Redaction.mark))
            case .shown, .url: result.appendUnchecked(HTTPField(name: field.name, value: redaction.url(field.value)))
            }
        }
        return (result, size)
    }

    func target(of request: HTTPRequest) -> String { redaction.url(request.target) }

    /// Returns the redacted reason phrase of the response. A short one has no room for a name and a secret.
    func reasonPhrase(of response: HTTPResponse) -> String? {
        guard let phrase = response.reasonPhrase, phrase.utf8.count > 4 else { return response.reasonPhrase }
        return redaction.text(phrase).clipped(to: 200)
    }

    private func verdict(on name: String) -> Verdict {
        let start = Self.hash(of: name)
        for offset in 0..<4 where table[(start + offset) & 255].name == name {
            return table[(start + offset) & 255].verdict
        }
        let field = HTTPField.Name(name)
        let verdict: Verdict =
            redaction.isSecret(header: field) ? .secret : Redaction.urlHeaders.contains(field) ? .url : .shown
        let free = (0..<4).first { table[(start + $0) & 255].name.isEmpty }
        nextReplaced = (nextReplaced + 1) & 3
        table[(start + (free ?? nextReplaced)) & 255] = Entry(name: name, verdict: verdict)
        return verdict
    }

    /// Returns a hash of a name. It is much cheaper than one that attackers cannot foresee, and differs for most names
    /// of fields. Names with equal hashes only cost time.
    private static func hash(of name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 0 }
            let middle = bytes[bytes.count / 2]
            return Int(first) &* 7 &+ Int(middle) &* 31 &+ Int(last) &* 3 &+ bytes.count &* 13
        }
    }
}

extension Redaction {
    /// Returns whether the value of a field whose name is harmless may contain a secret.
    fileprivate func mayHide(in value: String) -> Bool { !hidesNothing && Self.mayHoldURL(value) }
}
