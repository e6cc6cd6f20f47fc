// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension MockResponse {
    /// Returns a response whose body is the value as JSON with sorted keys. A `String` is in quotes; `json(text:)`
    /// takes JSON text. If the value cannot be encoded, returns a 500 that describes the error.
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) -> MockResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .data(try encoder.encode(value), type: .json, status: status)
        } catch {
            return .problem(.internalServerError, "the mock's value cannot be encoded: \(error)")
        }
    }

    /// Returns a response whose body is this JSON text, unchanged. The text need not be well-formed.
    public static func json(text: String, status: HTTPStatus = .ok) -> MockResponse {
        .data(Data(text.utf8), type: .json, status: status)
    }

    /// Returns a response whose body is plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> MockResponse {
        .data(Data(text.utf8), type: .text, status: status)
    }

    /// Returns a response whose body is these bytes, with this media type.
    public static func data(
        _ data: Data, type: MediaType = .octetStream, status: HTTPStatus = .ok
    ) -> MockResponse {
        MockResponse(status: status, headers: [.contentType: type.description], body: .data(data))
    }

    /// Returns a response with this status and without content.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers)
    }

    /// Returns a redirect: a response with this Location field. The location is not checked.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> MockResponse {
        MockResponse(status: status, headers: [.location: location])
    }

    /// Returns a response with problem details (RFC 9457). Their title is the reason phrase of the status.
    public static func problem(_ status: HTTPStatus, _ detail: String) -> MockResponse {
        let problem = ProblemDetails(title: status.reasonPhrase, status: status.code, detail: detail)
        var response = MockResponse.json(problem, status: status)
        response.headers[.contentType] = ProblemDetails.mediaType.description
        return response
    }

    /// Returns a response that sends each piece of text as a separate chunk.
    public static func chunks(_ pieces: [String], type: MediaType = .text) -> MockResponse {
        MockResponse(headers: [.contentType: type.description], body: .chunks(pieces.map { Data($0.utf8) }))
    }

    /// Returns a response whose body is the content of a file, read while the response is sent. If the file is missing
    /// or not a regular one, the server sends a 500.
    public static func file(_ path: String, type: MediaType = .octetStream) -> MockResponse {
        MockResponse(headers: [.contentType: type.description], body: .file(path: path))
    }

    /// Returns a response whose body is this number of bytes of ``pattern(_:)``: see `Body.generated`.
    public static func generated(bytes: Int, chunked: Bool = false) -> MockResponse {
        MockResponse(
            headers: [.contentType: MediaType.octetStream.description],
            body: .generated(bytes: bytes, chunked: chunked))
    }

    /// Returns a copy with these header fields. They replace the fields with the same names.
    public func with(headers: HTTPHeaders) -> MockResponse {
        changed { $0.headers = $0.headers.merging(headers, replacing: true) }
    }

    /// Returns a copy with these trailer fields instead of the current ones.
    public func with(trailers: HTTPHeaders) -> MockResponse {
        changed { $0.trailers = trailers }
    }

    /// Returns a copy that is sent after a 1xx head with this status. Further calls add further heads, in order.
    public func after(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> MockResponse {
        changed { $0.informational.append(Informational(status, headers: headers)) }
    }

    /// Returns a copy with "Connection: close". The server closes the connection after it has sent the response.
    public func closing() -> MockResponse {
        changed { $0.keepAlive = false }
    }

    func changed(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
