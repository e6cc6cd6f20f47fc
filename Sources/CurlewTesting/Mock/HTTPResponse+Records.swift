// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP
import CurlewStreams

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

    /// Returns a response whose body arrives in these pieces, in order. Use it to divide content at any byte.
    ///
    /// A body of pieces can be read once. Return the response from a closure if a stub is used more than once.
    public static func pieces(
        _ pieces: [Data], type: MediaType = .octetStream, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        var response = data(Data(), type: type, status: status, headers: headers)
        response.body = ResponseBody(Pieces(pieces: pieces.filter { !$0.isEmpty }))
        return response
    }

    /// Returns a response whose body arrives in these pieces of text in UTF-8, in order.
    ///
    /// A body of pieces can be read once. Return the response from a closure if a stub is used more than once.
    public static func pieces(
        _ texts: [String], type: MediaType = .text, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        pieces(texts.map { Data($0.utf8) }, type: type, status: status, headers: headers)
    }
}

/// Pieces of a body, one after the other.
private struct Pieces: AsyncSequence, Sendable {
    typealias Element = Data

    let pieces: [Data]

    func makeAsyncIterator() -> Iterator {
        Iterator(remainder: pieces[...])
    }

    struct Iterator: AsyncIteratorProtocol {
        var remainder: ArraySlice<Data>

        mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            return remainder.popFirst()
        }
    }
}
