// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Reads the rest of the line of a delimiter and the head of the part that follows, up to its empty line.
struct MultipartHeadReader: Sendable {
    private let limits: MultipartParser.Limits
    private(set) var fields = HTTPHeaders()
    private(set) var isComplete = false
    private var isAfterDelimiter = true
    /// The bytes of the line so far.
    private var line: [UInt8] = []
    /// The line before, which the next one may continue.
    private var pending: [UInt8] = []
    private var count = 0

    init(_ limits: MultipartParser.Limits) {
        self.limits = limits
    }

    mutating func begin() {
        self = MultipartHeadReader(limits)
    }

    /// Reads complete lines from `start`, until the head is complete or `bytes` end. Returns the position behind them.
    mutating func read(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(MultipartParseError) -> Int {
        var position = start
        while position < bytes.count, !isComplete {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= limits.headBytes else { throw .headTooLarge }
            line.append(byte)
            if byte == 0x0A { try endLine() } else if isAfterDelimiter { try checkPadding() }
        }
        return position
    }

    /// Throws as soon as a byte arrives that cannot follow a delimiter.
    private func checkPadding() throws(MultipartParseError) {
        guard let last = line.last, ASCII.isBlank(last) || last == 0x0D, line.dropLast().last != 0x0D
        else { throw .badDelimiter }
    }

    private mutating func endLine() throws(MultipartParseError) {
        guard line.dropLast().last == 0x0D else {
            throw isAfterDelimiter ? .badDelimiter : .badField(.bareLineFeed)
        }
        let text = line.dropLast(2)
        defer { line.removeAll(keepingCapacity: true) }
        if isAfterDelimiter {
            isAfterDelimiter = false
        } else if let first = text.first, ASCII.isBlank(first) {
            guard !pending.isEmpty else { throw .badField(.foldedField) }
            pending.append(0x20)
            pending += text.drop(while: ASCII.isBlank)
        } else {
            try endField()
            pending = Array(text)
            isComplete = text.isEmpty
        }
    }

    private mutating func endField() throws(MultipartParseError) {
        guard !pending.isEmpty else { return }
        guard fields.count < limits.fields else { throw .tooManyFields }
        do throws(HTTP1ParseError) {
            try HTTP1Grammar.field(pending[...], into: &fields)
        } catch {
            throw .badField(error)
        }
    }
}
