// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// Writes request heads (RFC 9112 §3): the request line, `Host`, the fields of the request, and those that the
/// transport adds for its body.
struct RequestHeadWriter: ~Copyable {
    private let start: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var count = 0
    /// Whether the head did not fit.
    private(set) var isTooLong = false

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        start = buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
        capacity = buffer.count
    }

    mutating func write(_ plan: borrowing TransferPlan) {
        let request = plan.request
        putText(request.method.rawValue)
        put(" ")
        putText(request.target)
        put(" HTTP/1.1\r\nHost: ")
        putText(request.origin.host)
        if !request.origin.isDefaultPort {
            put(":")
            putText(String(request.origin.port))
        }
        put("\r\n")
        if plan.upgrade != nil { put("Connection: Upgrade\r\nUpgrade: websocket\r\n") }
        var namesCodings = ContentCoding.offer.isEmpty
        for field in request.headers {
            if field.name == .contentLength || field.name == .transferEncoding { continue }
            // A part of an encoded representation cannot be decoded separately, so no coding is requested with Range.
            if field.name == .acceptEncoding || field.name == .range { namesCodings = true }
            putText(field.name.text)
            put(": ")
            putText(field.value)
            put("\r\n")
        }
        if plan.decodesContent, plan.upgrade == nil, !namesCodings {
            put("Accept-Encoding: ")
            putText(ContentCoding.offer)
            put("\r\n")
        }
        if plan.upgrade == nil { putFraming(plan) }
        put("\r\n")
    }

    private mutating func putFraming(_ plan: borrowing TransferPlan) {
        guard let upload = plan.upload else {
            if plan.request.method.definesContent { put("Content-Length: 0\r\n") }
            return
        }
        if let trailers = plan.request.body.trailers {
            put("Trailer: ")
            putText(trailers.names.map(\.text).joined(separator: ", "))
            put("\r\n")
        }
        if let length = upload.length {
            put("Content-Length: ")
            putText(String(length))
            put("\r\n")
        } else {
            put("Transfer-Encoding: chunked\r\n")
        }
    }

    private mutating func put(_ literal: StaticString) {
        put(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private mutating func putText(_ text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, bytes.count <= capacity - count else {
            if !bytes.isEmpty { isTooLong = true }
            return
        }
        memcpy(start + count, source, bytes.count)
        count += bytes.count
    }
}
#endif
