// SPDX-License-Identifier: MIT

/// Operations on protocol text that compare bytes.
///
/// `hasPrefix`, `split`, `contains` and similar methods compare `Character`s. A comma followed by a combining mark is a
/// different `Character`, but a parser that reads bytes still sees a comma. `Scripts/check` reports the use of such
/// methods.
extension StringProtocol where SubSequence == Substring {
    package func begins(with text: String) -> Bool {
        utf8.starts(with: text.utf8)
    }

    package func ends(with text: String) -> Bool {
        self[...].utf8.reversed().starts(with: text.utf8.reversed())
    }

    package func holds(_ mark: Unicode.Scalar) -> Bool {
        utf8.contains(UInt8(ascii: mark))
    }

    package func first(_ mark: Unicode.Scalar) -> String.Index? {
        utf8.firstIndex(of: UInt8(ascii: mark))
    }

    package func last(_ mark: Unicode.Scalar) -> String.Index? {
        self[...].utf8.lastIndex(of: UInt8(ascii: mark))
    }

    /// Returns the text before the first `mark`, or all of the text if it does not contain `mark`.
    package func upTo(_ mark: Unicode.Scalar) -> Substring {
        self[..<(first(mark) ?? endIndex)]
    }

    package func parts(_ mark: Unicode.Scalar, maximum: Int = .max, keepingEmpty: Bool = false) -> [Substring] {
        self[...].utf8.split(
            separator: UInt8(ascii: mark), maxSplits: maximum - 1, omittingEmptySubsequences: !keepingEmpty
        )
        .map(Substring.init)
    }

    /// Returns the text without the `unwanted` bytes at either end: by default, without spaces and tabs. `unwanted`
    /// must match only ASCII bytes.
    package func trimmed(_ unwanted: (UInt8) -> Bool = ASCII.isBlank) -> Substring {
        let bytes = self[...].utf8
        guard let start = bytes.firstIndex(where: { !unwanted($0) }),
            let end = bytes.lastIndex(where: { !unwanted($0) })
        else { return self[startIndex..<startIndex] }
        return self[start...end]
    }

    /// Returns the text without any of the `unwanted` bytes: by default, without spaces and tabs. `unwanted` must match
    /// only ASCII bytes.
    package func without(_ unwanted: (UInt8) -> Bool = ASCII.isBlank) -> String {
        String(decoding: utf8.filter { !unwanted($0) }, as: UTF8.self)
    }
}

extension String {
    /// Returns the first byte that `matches`, or nil if none does.
    ///
    /// Reads contiguous memory directly: iterating over `utf8` checks the storage for each byte, six times as slow.
    package func firstByte(where matches: (UInt8) -> Bool) -> UInt8? {
        utf8.withContiguousStorageIfAvailable { $0.first(where: matches) } ?? utf8.first(where: matches)
    }
}
