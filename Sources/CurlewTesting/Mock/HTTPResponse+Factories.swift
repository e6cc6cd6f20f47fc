// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// Factories of responses for mocks: `.status(404)`, `.json(user)`, `.json(text: #"{"id": 1}"#)`.
extension HTTPResponse {
    /// Returns a response with this status and an empty body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers)
    }

    /// Returns a response whose body is the value, encoded by the primary codec of `codecs`, by default as JSON. If the
    /// value cannot be encoded, returns a 500 whose body describes the error.
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
