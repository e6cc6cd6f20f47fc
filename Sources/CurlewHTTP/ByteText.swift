// SPDX-License-Identifier: MIT

/// Looking into protocol text by bytes.
///
/// `hasPrefix`, `split`, `contains` and their kin compare `Character`s: a comma with a combining mark behind it is another
/// `Character`, and a comma all the same to whoever reads the bytes. `Scripts/check` finds such comparisons.
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

    /// What stands before the first `mark`: all of it if there is none.
    package func upTo(_ mark: Unicode.Scalar) -> Substring {
        self[..<(first(mark) ?? endIndex)]
    }

    package func parts(_ mark: Unicode.Scalar, most: Int = .max, keepingEmpty: Bool = false) -> [Substring] {
        self[...].utf8.split(
            separator: UInt8(ascii: mark), maxSplits: most - 1, omittingEmptySubsequences: !keepingEmpty
        )
        .map(Substring.init)
    }

    /// Without some bytes of ASCII at either end: spaces and tabs when nothing else is said.
    package func trimmed(_ unwanted: (UInt8) -> Bool = ASCII.isBlank) -> Substring {
        let bytes = self[...].utf8
        guard let start = bytes.firstIndex(where: { !unwanted($0) }),
            let end = bytes.lastIndex(where: { !unwanted($0) })
        else { return self[startIndex..<startIndex] }
        return self[start...end]
    }

    /// Without the bytes of ASCII that are `unwanted`.
    package func without(_ unwanted: (UInt8) -> Bool = ASCII.isBlank) -> String {
        String(decoding: utf8.filter { !unwanted($0) }, as: UTF8.self)
    }
}

extension String {
    /// The first byte that `matches`; nil if none does.
    ///
    /// The bytes of nearly every text stand side by side. Walking `utf8` looks up for each byte how the text is stored, which
    /// takes about six times as long.
    package func firstByte(where matches: (UInt8) -> Bool) -> UInt8? {
        utf8.withContiguousStorageIfAvailable { $0.first(where: matches) } ?? utf8.first(where: matches)
    }
}
