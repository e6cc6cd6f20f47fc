// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP
import CurlewStreams

/// Factories of responses for mocks: `.status(404)`, `.json(user)`, `.json(text: #"{"id": 1}"#)`.
extension HTTPResponse {
    /// Returns a response with this status and an empty body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers)
    }

    /// Returns a response whose body is the value, encoded by the primary codec of `codecs`, by default as JSON, with a
    /// `String` in quotes; `json(text:)` takes JSON text. If the value cannot be encoded, returns a 500 whose body
    /// describes the error.
    public static func json(
        _ value: some Encodable, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], codecs: Codecs = .json
    ) -> HTTPResponse {
        do {
            return data(
                try codecs.encode(value), type: codecs.primary.mediaType, status: status, headers: headers)
        } catch {
            return text("The mock's value cannot be encoded: \(error)", status: .internalServerError)
        }
    }

    /// Returns a response whose body is this JSON text, unchanged. The text need not be well-formed.
    public static func json(text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> HTTPResponse {
        data(Data(text.utf8), type: .json, status: status, headers: headers)
    }

    /// Returns a response whose body is this text in UTF-8, by default with the media type of plain text.
    public static func text(
        _ text: String, type: MediaType = .text, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        data(Data(text.utf8), type: type, status: status, headers: headers)
    }

    /// Returns a response whose body is these bytes. The Content-Type is `type` unless `headers` contains that field.
    public static func data(
        _ data: Data, type: MediaType = .octetStream, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        var headers = headers
        if !headers.contains(.contentType) { headers[.contentType] = "\(type)" }
        return HTTPResponse(status: status, headers: headers, body: ResponseBody(data))
    }
}

/// Converts the value that a stub returns to a response.
enum StubResponse {
    static func response<Value: Encodable>(for value: Value, using codecs: Codecs) throws -> HTTPResponse {
        switch value {
        case let text as String:
            return .text(text, type: isJSON(text.utf8) ? .json : .text)
        case let data as Data:
            return .data(data, type: isJSON(data) ? .json : .octetStream)
        case let optional as any OptionalValue where optional.isAbsent:
            return .status(.noContent)
        default:
            return .data(try codecs.encode(value), type: codecs.primary.mediaType)
        }
    }

    /// Whether the first byte that is not white space (RFC 8259 §2) begins an object or an array.
    private static func isJSON(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { [0x7B, 0x5B].contains($0) } ?? false
    }
}

private protocol OptionalValue {
    var isAbsent: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isAbsent: Bool { if case .none = self { true } else { false } }
}

extension HTTPResponse {
    /// Returns an event stream (WHATWG HTML §9.2) that executes these steps, without sockets:
    ///
    ///     mock.on(.get, "/news") { _ in .events([.event("one", id: "1"), .interruption(.reset)]) }
    ///
    /// The body ends after the last step. After an interruption, the body throws `.connectionLost`, or never ends if
    /// the interruption is `.stall`.
    ///
    /// - `clock`: the clock of the pauses. Default real time.
    public static func events(
        _ steps: [MockEventStep], on clock: any TimeSource = SystemTime()
    ) -> HTTPResponse {
        events(MockEventScript(steps), on: clock)
    }

    /// Returns an event stream that `script` writes, without sockets. The script begins when the response is created,
    /// and each write waits until the client has read it. The body ends when the script returns, and throws the error
    /// that the script throws. Releasing or cancelling the body ends the script's writing with an error.
    ///
    /// - `clock`: the clock of the pauses. Default real time.
    public static func events(
        on clock: any TimeSource = SystemTime(), _ script: @escaping @Sendable (MockEventStream) async throws -> Void
    ) -> HTTPResponse {
        events(MockEventScript(script), on: clock)
    }

    /// Returns an event stream that runs a script.
    package static func events(_ script: MockEventScript, on clock: any TimeSource = SystemTime()) -> HTTPResponse {
        let source = MemoryEvents(clock)
        source.begin(script)
        return HTTPResponse(
            headers: [.contentType: MediaType.eventStream.description, .cacheControl: "no-store"],
            body: ResponseBody(source, limit: .max, length: nil))
    }
}

/// The bytes of an event stream without sockets.
private final class MemoryEvents: ResponseBodySource {
    /// The output of the script, which refers to it instead of the body, so that it does not keep the body alive.
    private let output: ScriptOutput
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ clock: any TimeSource) {
        output = ScriptOutput(on: clock)
    }

    deinit { cancel() }

    func begin(_ script: MockEventScript) {
        let started = script.start(on: output)
        task.withLock { $0 = started }
    }

    func next() async throws -> Data? { try await output.next() }

    func cancel() {
        output.close()
        task.withLock { $0 }?.cancel()
    }
}

/// Factories of responses that consist of records or of separate pieces.
extension HTTPResponse {
    /// Returns a response whose body is the values as JSON Lines, encoded by the codec of `codecs` for JSON. If a value
    /// cannot be encoded, returns a 500 whose body describes the error.
    public static func jsonLines<Values: Sequence>(
        _ values: Values, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], codecs: Codecs = .json
    ) -> HTTPResponse where Values.Element: Encodable {
        do {
            let codec = codecs.jsonCodec
            let body = try values.reduce(into: Data()) { $0 += try RecordText.line($1, using: codec) }
            return data(body, type: .jsonLines, status: status, headers: headers)
        } catch {
            return text("The mock's value cannot be encoded: \(error)", status: .internalServerError)
        }
    }

    /// Returns a response whose body arrives in these pieces, in order. Pieces may divide content at any byte.
    ///
    /// Empty pieces are omitted. The body can be read once, so a stub that is used again needs a closure that makes it.
    public static func pieces(
        _ pieces: [Data], type: MediaType = .octetStream, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        var response = data(Data(), type: type, status: status, headers: headers)
        let chunks = RequestBody.Chunks {
            var remainder = pieces.filter { !$0.isEmpty }[...]
            return {
                try Task.checkCancellation()
                return remainder.popFirst()
            }
        }
        response.body = ResponseBody(chunks)
        return response
    }

    /// Returns a response whose body arrives in these pieces of text in UTF-8, in order. Empty pieces are omitted. The
    /// body can be read once, so a stub that is used again needs a closure that creates it.
    public static func pieces(
        _ texts: [String], type: MediaType = .text, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        pieces(texts.map { Data($0.utf8) }, type: type, status: status, headers: headers)
    }
}
