// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MockResponse {
    /// A value as JSON with sorted keys. A value that cannot be encoded becomes a 500 that describes the error.
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) -> MockResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .data(try encoder.encode(value), type: .json, status: status)
        } catch {
            return .problem(.internalServerError, "the mock's value cannot be encoded: \(error)")
        }
    }

    /// JSON text as it is, well-formed or not.
    public static func json(text: String, status: HTTPStatus = .ok) -> MockResponse {
        .data(Data(text.utf8), type: .json, status: status)
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> MockResponse {
        .data(Data(text.utf8), type: .text, status: status)
    }

    /// Bytes with a media type.
    public static func data(
        _ data: Data, type: MediaType = .octetStream, status: HTTPStatus = .ok
    ) -> MockResponse {
        MockResponse(status: status, headers: [.contentType: type.description], body: .data(data))
    }

    /// A status without content.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers)
    }

    /// A redirect to a location.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> MockResponse {
        MockResponse(status: status, headers: [.location: location])
    }

    /// Problem details (RFC 9457).
    public static func problem(_ status: HTTPStatus, _ detail: String) -> MockResponse {
        let problem = ProblemDetails(title: status.reasonPhrase, status: status.code, detail: detail)
        var response = MockResponse.json(problem, status: status)
        response.headers[.contentType] = MediaType.problemJSON.description
        return response
    }

    /// Text in chunks, one for each piece.
    public static func chunks(_ pieces: [String], type: MediaType = .text) -> MockResponse {
        MockResponse(headers: [.contentType: type.description], body: .chunks(pieces.map { Data($0.utf8) }))
    }

    /// The content of a file.
    public static func file(_ path: String, type: MediaType = .octetStream) -> MockResponse {
        MockResponse(headers: [.contentType: type.description], body: .file(path: path))
    }

    /// Bytes of a known pattern, generated while they are sent; see ``pattern(_:)``.
    public static func generated(bytes: Int, chunked: Bool = false) -> MockResponse {
        MockResponse(
            headers: [.contentType: MediaType.octetStream.description],
            body: .generated(bytes: bytes, chunked: chunked))
    }

    /// Returns a copy with these header fields set, each replacing the fields with its name.
    public func with(headers: HTTPHeaders) -> MockResponse {
        changed { $0.headers = $0.headers.merging(headers, replacing: true) }
    }

    /// Returns a copy with these trailer fields.
    public func with(trailers: HTTPHeaders) -> MockResponse {
        changed { $0.trailers = trailers }
    }

    /// Returns a copy that is preceded by a 1xx head.
    public func after(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> MockResponse {
        changed { $0.informational.append(Informational(status, headers: headers)) }
    }

    /// Returns a copy with "Connection: close"; the server closes the connection after it.
    public func closing() -> MockResponse {
        changed { $0.keepAlive = false }
    }

    func changed(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
