// SPDX-License-Identifier: MIT

// The entry point of libFuzzer. `Scripts/fuzz` compiles it as a part of CurlewHTTP; it is not a target of the package.

import CurlewFoundation

/// What a parser returns for the responses on a connection. Content that continues is one range.
private struct Outcome: Equatable {
    var events: [HTTP1ResponseParser.Event] = []
    var error: HTTP1ResponseError?
    var kept: [Bool] = []

    mutating func add(_ event: HTTP1ResponseParser.Event, at start: Int) {
        guard case .content(let range) = event else { return events.append(event) }
        let moved = range.lowerBound + start..<range.upperBound + start
        if case .content(let last) = events.last, last.upperBound == moved.lowerBound {
            events[events.count - 1] = .content(last.lowerBound..<moved.upperBound)
        } else {
            events.append(.content(moved))
        }
    }
}

/// The bytes of one connection, in the pieces that the parser sees.
private struct Connection: ~Copyable {
    private let method: HTTPMethod
    private let known: FieldCache?
    private var parser: HTTP1ResponseParser
    private var outcome = Outcome()

    init(_ flags: UInt8, _ known: FieldCache?) {
        method = [.get, .head, .connect, .get][Int(flags & 3)]
        parser = HTTP1ResponseParser(
            maximumHeadBytes: [Int.max, 4096, 100, 30][Int(flags >> 2 & 3)],
            maximumFields: [Int.max, 10, 2, 0][Int(flags >> 4 & 3)])
        self.known = known
        parser.begin(method)
    }

    /// Parses a piece that begins `start` bytes after the beginning, and returns how much of it is consumed.
    mutating func read(_ piece: UnsafeRawBufferPointer, at start: Int) -> Int {
        // A copy without a byte more, so that reading past its end is found.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyMemory(from: piece)
        let buffer = UnsafeRawBufferPointer(copy)
        var offset = 0
        while outcome.error == nil {
            let before = offset
            do throws(HTTP1ResponseError) {
                let event = try parser.next(buffer, &offset, known)
                precondition(offset >= before && offset <= buffer.count)
                switch event {
                case .incomplete: return offset
                case .content(let range):
                    precondition(!range.isEmpty && range.lowerBound >= before && range.upperBound == offset)
                case .end:
                    precondition(parser.isBetweenResponses)
                    let end = offset
                    let next = try parser.next(buffer, &offset, known)
                    precondition(next == .incomplete && offset == end)
                    outcome.kept.append(parser.keepsConnection)
                    parser.begin(method)
                case .interim, .head: precondition(offset > before && !parser.isBetweenResponses)
                }
                outcome.add(event, at: start)
            } catch {
                outcome.error = error
            }
        }
        return offset
    }

    consuming func end() -> Outcome {
        do throws(HTTP1ResponseError) {
            outcome.events.append(try parser.finish())
        } catch {
            precondition(outcome.error == nil || outcome.error == error)
            precondition(!parser.keepsConnection)
            outcome.error = error
        }
        return outcome
    }
}

/// Used by one thread. Lines of earlier inputs must not change what later ones mean.
nonisolated(unsafe) private let cache = FieldCache()

/// Parses an input in one piece, and again in two pieces and with cached fields. The first byte selects the method and
/// the limits, the next two the position of the split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponseParser(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data, count >= 3 else { return -1 }
    let bytes = UnsafeRawBufferPointer(start: data + 3, count: count - 3)
    var whole = Connection(data[0], nil)
    _ = whole.read(bytes, at: 0)
    var split = Connection(data[0], cache)
    let cut = (Int(data[1]) << 8 | Int(data[2])) % (bytes.count + 1)
    let consumed = split.read(UnsafeRawBufferPointer(rebasing: bytes[..<cut]), at: 0)
    _ = split.read(UnsafeRawBufferPointer(rebasing: bytes[consumed...]), at: consumed)
    let (left, right) = (whole.end(), split.end())
    precondition(left == right, "\(left) is not \(right)")
    return 0
}
