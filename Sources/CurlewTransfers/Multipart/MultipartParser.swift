// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// An incremental parser for multipart bodies, without I/O (RFC 2046 §5.1): `form-data`, `mixed`, `byteranges` and every
/// other subtype.
///
///     parser.receive(chunk)
///     while let event = try parser.next() { ... }
///     try parser.finish()                             // at the end of the body
///
/// Every part produces `.head`, any number of `.body` and `.partEnd`; the last delimiter produces `.end`. What precedes
/// the first delimiter and follows the last one is ignored. How the input is split affects only the sizes of the
/// `.body` events, which are never empty. After an error, every call of `next()` throws the same error.
///
/// Lines end with CRLF. A bare LF is content in a body and an error in a head or after a delimiter: parsers that take
/// it for a line end would find other parts. After a delimiter only spaces and tabs may follow on its line. A delimiter
/// directly after the empty line of a head ends a part without content. A field may continue on a line that starts with
/// a space or a tab, which becomes one space. Invalid UTF-8 in a field value is replaced. Content is never decoded.
///
/// The parser stores the head of a part up to its limit, and otherwise nothing but the chunk that it has received.
struct MultipartParser: Sendable {
    enum Event: Equatable, Sendable {
        case head(HTTPHeaders)
        case body(Data)
        case partEnd
        case end
    }

    struct Limits: Sendable {
        /// The maximum size of the head of a part with the rest of the line before it, in bytes. Default: 16 KiB.
        var headBytes = 16_384
        /// The maximum number of fields of a part. Default: 64.
        var fields = 64
        /// The maximum number of parts. Default: 1000.
        var parts = 1000
        /// The maximum number of bytes before the first delimiter. Default: 64 KiB.
        var preambleBytes = 65_536

        init() {}
    }

    private enum State {
        case preamble
        /// After a delimiter, within its line.
        case delimiter
        /// After a delimiter and the first of two hyphens.
        case closing
        case head
        case body
        case partEnd
        case closed
        case epilogue
        case failed(MultipartParseError)
    }

    private enum Step {
        case event(Event)
        case again
        case starved
    }

    private let limits: Limits
    private var search: BoundarySearch
    private var head: MultipartHeadReader
    private var state = State.preamble
    private var input = Data()
    /// The offset of the first byte of `input` that has not been consumed.
    private var position = 0
    private var preamble = 0
    private var parts = 0

    /// Creates a parser. Throws `badBoundary`.
    ///
    /// - `boundary`: the parameter of the media type. The parser accepts all printable ASCII characters, because some
    ///   servers use more than RFC 2046 allows.
    init(boundary: String, limits: Limits = Limits()) throws(MultipartParseError) {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.last != 0x20,
            boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw .badBoundary }
        self.limits = limits
        search = BoundarySearch(boundary: boundary)
        head = MultipartHeadReader(limits)
    }

    /// Whether a part with this content would contain a delimiter.
    static func delimiter(_ boundary: String, occursIn content: Data) -> Bool {
        var search = BoundarySearch(boundary: boundary)
        return content.withUnsafeBytes { bytes in
            var position = 0
            while position < bytes.count {
                let outcome = search.advance(over: bytes, from: position)
                if outcome.isFound { return true }
                position = outcome.next
            }
            return false
        }
    }

    mutating func receive(_ data: Data) {
        switch state {
        case .epilogue, .failed: break
        default:
            if position == input.count { input = data } else { input = input.suffix(input.count - position) + data }
            position = 0
        }
    }

    /// Returns the next event, or `nil` if more bytes are needed.
    mutating func next() throws(MultipartParseError) -> Event? {
        do throws(MultipartParseError) {
            while true {
                switch try step() {
                case .event(let event): return event
                case .again: continue
                case .starved:
                    (input, position) = (Data(), 0)
                    return nil
                }
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Throws `truncated` or `noDelimiter` if the input ends before the last delimiter. Call it after `next()` has
    /// returned `nil`.
    func finish() throws(MultipartParseError) {
        switch state {
        case .epilogue: break
        case .failed(let error): throw error
        case .preamble: throw .noDelimiter
        default: throw .truncated
        }
    }

    private mutating func step() throws(MultipartParseError) -> Step {
        switch state {
        case .failed(let error): throw error
        case .partEnd:
            state = .delimiter
            return .event(.partEnd)
        case .closed:
            state = .epilogue
            return .event(.end)
        case .epilogue: return .starved
        default: break
        }
        guard position < input.count else { return .starved }
        switch state {
        case .preamble: try skipPreamble()
        case .delimiter: try readDelimiterEnd()
        case .closing:
            guard takeByte() == UInt8(ascii: "-") else { throw .badDelimiter }
            state = .closed
        case .head:
            if let fields = try readHead() { return .event(.head(fields)) }
        default:
            if let content = readBody() { return .event(.body(content)) }
        }
        return .again
    }

    private mutating func takeByte() -> UInt8 {
        defer { position += 1 }
        return input[input.startIndex + position]
    }

    private mutating func advance() -> BoundarySearch.Outcome {
        let (input, start) = (input, position)
        let outcome = input.withUnsafeBytes { search.advance(over: $0, from: start) }
        position = outcome.next
        return outcome
    }

    private mutating func skipPreamble() throws(MultipartParseError) {
        let outcome = advance()
        preamble += outcome.held.count + outcome.content.count
        guard preamble <= limits.preambleBytes else { throw .preambleTooLarge }
        if outcome.isFound { state = .delimiter }
    }

    /// Reads the first byte after a delimiter. If it does not close the body, the rest of the line belongs to the head.
    private mutating func readDelimiterEnd() throws(MultipartParseError) {
        guard input[input.startIndex + position] == UInt8(ascii: "-") else {
            guard parts < limits.parts else { throw .tooManyParts }
            parts += 1
            head.begin()
            state = .head
            return
        }
        position += 1
        state = .closing
    }

    private mutating func readHead() throws(MultipartParseError) -> HTTPHeaders? {
        let (input, start) = (input, position)
        position = try input.withUnsafeBytes { bytes in
            Result { () throws(MultipartParseError) in try head.read(bytes, from: start) }
        }.get()
        guard head.isComplete else { return nil }
        search.beginLine()
        state = .body
        return head.fields
    }

    private mutating func readBody() -> Data? {
        let outcome = advance()
        if outcome.isFound { state = .partEnd }
        if !outcome.held.isEmpty { return Data(outcome.held) }
        let content = outcome.content
        if content.isEmpty { return nil }
        // A chunk without a delimiter, as most are, is passed on without copying. A slice would not start at zero.
        if content.count == input.count, input.startIndex == 0 { return input }
        return Data(input[input.startIndex + content.lowerBound..<input.startIndex + content.upperBound])
    }
}

/// The reason why a multipart body cannot be parsed. The rest of the body is then unusable.
enum MultipartParseError: Error, Hashable, Sendable {
    /// A boundary that is empty, longer than 70 bytes, ends with a space, or has bytes outside of printable ASCII.
    case badBoundary
    /// The body has no delimiter: it is not multipart, or the boundary is that of another body.
    case noDelimiter
    /// Bytes other than spaces and tabs follow a delimiter on its line.
    case badDelimiter
    /// A field in the head of a part is malformed.
    case badField(HTTP1ParseError)
    case headTooLarge
    case tooManyFields
    case tooManyParts
    case preambleTooLarge
    /// The body ends before its last delimiter.
    case truncated
}

extension MultipartParseError: CustomStringConvertible {
    var description: String {
        switch self {
        case .badBoundary: "the boundary is not 1 to 70 printable ASCII characters, the last one not a space"
        case .noDelimiter: "the body does not contain its boundary"
        case .badDelimiter: "a delimiter is followed by other characters on its line"
        case .badField(let error): "the head of a part is malformed: \(error)"
        case .headTooLarge: "the head of a part is larger than the limit"
        case .tooManyFields: "a part has more fields than the limit"
        case .tooManyParts: "there are more parts than the limit"
        case .preambleTooLarge: "there is more text before the first part than the limit"
        case .truncated: "the body ends before its last delimiter"
        }
    }
}
