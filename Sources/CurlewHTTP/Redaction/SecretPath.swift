// SPDX-License-Identifier: MIT

/// The last segments of a path, to compare them with the patterns of `Redaction.Rules.secretPaths`.
struct SecretPath {
    /// A segment of a pattern: what precedes the star and what follows it, in lower case.
    private struct Pattern {
        let (first, last): ([UInt8], [UInt8]?)

        init(_ text: Substring) {
            let parts = text.parts("*", keepingEmpty: true).map { $0.utf8.map(ASCII.lower) }
            first = parts.first ?? []
            last = parts.count > 1 ? parts.last : nil
        }

        func matches(_ segment: [UInt8]) -> Bool {
            guard let last else { return segment == first }
            return segment.count > first.count + last.count && segment.starts(with: first)
                && segment.suffix(last.count).elementsEqual(last)
        }
    }

    private let patterns: [[Pattern]]
    private let maximumCount: Int
    /// The last segments, decoded and in lower case, because a server may treat other spellings as equal.
    private var segments: [(range: Range<Int>, text: [UInt8])] = []
    /// The offset of the next segment.
    private var start = 0
    /// Whether a slash precedes the next segment.
    private(set) var hasSlash = false

    init(_ patterns: Set<String>) {
        self.patterns = patterns.map { $0.parts("/").map(Pattern.init) }.filter { !$0.isEmpty }
        maximumCount = self.patterns.map(\.count).max() ?? 0
    }

    var isUnused: Bool { patterns.isEmpty }

    mutating func begin(at start: Int) {
        segments.removeAll(keepingCapacity: true)
        hasSlash = false
        self.start = start
    }

    /// Begins the next segment, after a slash.
    mutating func skip(to start: Int) {
        hasSlash = true
        self.start = start
    }

    /// Adds the segment that ends here. Returns the hidden segments with their replacements.
    mutating func end(_ bytes: [UInt8], at end: Int) -> [(Range<Int>, [UInt8])] {
        let range = min(start, end)..<end
        var text = bytes[range].map(ASCII.lower)
        if text.contains(UInt8(ascii: "%")), let decoded = PercentCoding.decode(String(decoding: text, as: UTF8.self)) {
            text = decoded.utf8.map(ASCII.lower)
        }
        segments.append((range, text))
        if segments.count > maximumCount { segments.removeFirst() }
        return patterns.flatMap { pattern -> [(Range<Int>, [UInt8])] in
            let pairs = zip(pattern, segments.suffix(pattern.count))
            guard pattern.count <= segments.count, pairs.allSatisfy({ $0.matches($1.text) }) else { return [] }
            return pairs.compactMap { part, segment in
                part.last.map { (segment.range, part.first + Array(Redaction.mark.utf8) + $0) }
            }
        }
    }
}
