// SPDX-License-Identifier: MIT

import CurlewCore

/// The rules that ship with the package, searched in place in the text of `SuffixData`: nothing is read, built or
/// allocated, so the table costs its bytes in the binary and no time at startup.
///
/// The names form a tree whose root contains the top-level names. A block contains the names beneath one name, sorted,
/// as `label address? kind`. The address is that of the block beneath the label: its start and its end, in four capital
/// letters each. The kind is one byte: `,` is a rule, `*` a rule whose subdomains are also public, `!` an exception,
/// and `;` no rule. `Scripts/suffixes` generates the text.
struct SuffixTable {
    private typealias Text = UnsafeBufferPointer<UInt8>

    /// Returns the number of public labels at the end of a name. The labels are ordered from the right, in lower case
    /// and punycode.
    static func publicLabels(of labels: some Sequence<Substring>) -> Int {
        let text = Text(start: SuffixData.text.utf8Start, count: SuffixData.text.utf8CodeUnitCount)
        var block: Range<Int>? = SuffixData.root
        var isWild = false
        var matchLength = 0
        for (position, label) in labels.enumerated() {
            guard block != nil || isWild else { break }
            // For a name without a rule, the last label is public.
            if isWild || position == 0 { matchLength = position + 1 }
            guard let found = block.flatMap({ entry(label, in: $0, of: text) }) else { break }
            switch found.kind {
            case UInt8(ascii: "!"): return position
            case UInt8(ascii: ";"): break
            default: matchLength = position + 1
            }
            isWild = found.kind == UInt8(ascii: "*")
            block = found.beneath
        }
        return matchLength
    }

    /// Returns the entry of a label; nil if the block has none. The binary search goes back from the middle to the
    /// start of an entry, because the entries have different lengths.
    private static func entry(
        _ label: Substring, in block: Range<Int>, of text: Text
    ) -> (kind: UInt8, beneath: Range<Int>?)? {
        var low = block.lowerBound
        var high = block.upperBound
        while low < high {
            var start = low + (high - low) / 2
            while start > low, !isKind(text[start - 1]) { start -= 1 }
            var end = start
            while !isCapital(text[end]), !isKind(text[end]) { end += 1 }
            var kind = end
            while !isKind(text[kind]) { kind += 1 }
            let name = text[start..<end]
            if name.elementsEqual(label.utf8) {
                return (
                    text[kind], kind == end ? nil : number(text[end...].prefix(4))..<number(text[..<kind].suffix(4))
                )
            }
            if name.lexicographicallyPrecedes(label.utf8) { low = kind + 1 } else { high = start }
        }
        return nil
    }

    private static func isKind(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "*"), UInt8(ascii: "!"), UInt8(ascii: ";"): true
        default: false
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

    private static func number(_ letters: Slice<Text>) -> Int {
        letters.reduce(0) { $0 * 26 + Int($1 - UInt8(ascii: "A")) }
    }
}
