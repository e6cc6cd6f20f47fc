// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The reason why a part of a response cannot be written. The call that throws this error writes nothing.
package struct HTTP1WriteError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Serializes HTTP/1.1 responses, without I/O (RFC 9112).
///
/// Each call appends one part of a response to `bytes`, or throws and appends nothing. The caller is responsible for
/// the order: any number of `informational`, one `head`, then the content as the framing requires.
enum HTTP1ResponseWriter {
    /// The framing of the content. The writer adds the corresponding field to the head.
    enum Framing: Hashable, Sendable {
        /// No content and no framing field: 1xx, 204, or a response to HEAD whose length is unknown.
        case none
        /// A Content-Length field. This number of bytes follows, or none for HEAD and 304.
        case length(Int)
        /// Transfer-Encoding: chunked. Chunks follow: ``chunk(_:into:)``, then ``lastChunk(trailers:into:)``.
        case chunked
        /// No framing field: the content ends when the connection closes.
        case untilClose
    }

    /// Writes the status line and the fields. Throws if the status, the reason phrase or a field is invalid, or if a
    /// field contradicts the framing.
    static func head(
        _ status: HTTPStatus, reason: String? = nil, headers: HTTPHeaders, framing: Framing, into bytes: inout [UInt8]
    ) throws(HTTP1WriteError) {
        guard (100...999).contains(status.code) else {
            throw HTTP1WriteError("a status has three digits, not \(status.code)")
        }
        let reason = reason ?? status.reasonPhrase
        guard !reason.utf8.contains(where: ASCII.isControl) else {
            throw HTTP1WriteError("the reason phrase has a control character")
        }
        let extra = try framingField(framing, status, headers)
        try check(headers)
        bytes.append(contentsOf: "HTTP/1.1 \(status.code) \(reason)\r\n".utf8)
        if let extra { bytes.append(contentsOf: "\(extra)\r\n".utf8) }
        append(headers, to: &bytes)
    }

    /// Writes the head of a 1xx response, which has no content and precedes the final head (RFC 9110 §15.2). Throws for
    /// any other status.
    static func informational(
        _ status: HTTPStatus, headers: HTTPHeaders = [:], into bytes: inout [UInt8]
    ) throws(HTTP1WriteError) {
        guard status.isInformational else {
            throw HTTP1WriteError("\(status.code) is a final status; write a head")
        }
        try head(status, headers: headers, framing: .none, into: &bytes)
    }

    /// Writes one chunk. Writes nothing for empty content, because an empty chunk would end the body.
    static func chunk(_ content: some Collection<UInt8>, into bytes: inout [UInt8]) {
        guard !content.isEmpty else { return }
        bytes.append(contentsOf: String(content.count, radix: 16).utf8)
        bytes.append(contentsOf: "\r\n".utf8)
        bytes.append(contentsOf: content)
        bytes.append(contentsOf: "\r\n".utf8)
    }

    /// Writes the last chunk, which ends the content, and the trailers. Throws for a field that cannot be a trailer.
    static func lastChunk(
        trailers: HTTPHeaders = [:], into bytes: inout [UInt8]
    ) throws(HTTP1WriteError) {
        for name in [HTTPField.Name.contentLength, .transferEncoding, "Trailer", .host] where trailers.contains(name) {
            throw HTTP1WriteError("\(name) cannot be a trailer (RFC 9110 §6.5.1)")
        }
        try check(trailers)
        bytes.append(contentsOf: "0\r\n".utf8)
        append(trailers, to: &bytes)
    }

    private static func framingField(
        _ framing: Framing, _ status: HTTPStatus, _ headers: HTTPHeaders
    ) throws(HTTP1WriteError) -> String? {
        guard !headers.contains(.transferEncoding) else {
            throw HTTP1WriteError("Transfer-Encoding is written by the framing; remove it")
        }
        let lengths = headers[values: .contentLength]
        switch framing {
        case .length(let length):
            guard length >= 0, !status.isInformational, status.code != 204 else {
                throw HTTP1WriteError("\(status.code) cannot have a length of \(length)")
            }
            if lengths.isEmpty { return "Content-Length: \(length)" }
            guard lengths == [String(length)] else {
                throw HTTP1WriteError("Content-Length is not the length of the content, \(length)")
            }
            return nil
        case .chunked, .untilClose, .none:
            guard lengths.isEmpty else {
                throw HTTP1WriteError("Content-Length contradicts the framing; remove it")
            }
            guard framing == .none || !status.forbidsContent else {
                throw HTTP1WriteError("\(status.code) never has content")
            }
            return framing == .chunked ? "Transfer-Encoding: chunked" : nil
        }
    }

    /// Throws for an invalid field. A parser may have added fields without validation.
    private static func check(_ headers: HTTPHeaders) throws(HTTP1WriteError) {
        if let problem = headers.problem ?? HTTPHeaders(Array(headers)).problem {
            throw HTTP1WriteError(problem.description)
        }
    }

    private static func append(_ headers: HTTPHeaders, to bytes: inout [UInt8]) {
        for field in headers {
            bytes.append(contentsOf: field.name.text.utf8)
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: field.value.utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }
}
