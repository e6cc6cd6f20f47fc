// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Rejects requests that URLSession would change or that would crash it, and converts the others to `URLRequest`.
enum RequestGuard {
    /// Returns why `request` cannot be sent, with a hint; nil if it can be sent.
    static func problem(_ request: HTTPRequest, on system: Platform) -> (text: String, hint: String)? {
        if !request.body.isEmpty, request.method == .head || request.method == .get {
            return ("URLSession sends no \(request.method) request with a body.", "Use POST or QUERY.")
        }
        if request.origin.loopbackAddresses != nil {
            return ("URLSession would send this local name to the DNS.", "Write localhost or the address.")
        }
        guard system == .linux else { return nil }
        if request.origin.host.begins(with: "[") {
            return ("URLSession on Linux connects to no IPv6 literal.", "Use a host name, or CurlTransport.")
        }
        if hasDotSegment(request.target) {
            return ("URLSession on Linux resolves dot segments of the path.", "Write the path without them.")
        }
        return nil
    }

    /// Returns the `URLRequest` for `request`, without its body.
    ///
    /// - `closes`: whether the connection is closed after the exchange.
    static func message(
        _ request: HTTPRequest, skipsContentDecoding: Bool, closes: Bool, on platform: Platform = .current
    ) throws(NetworkError) -> URLRequest {
        var message = try URLRequest(head: request)
        // The timeout is in whole seconds: Linux truncates fractions and treats less than one second as no timeout.
        message.timeoutInterval = SessionSettings.distantTimeout
        // URLSession always decodes the codings that it knows, so the request accepts only an unencoded body.
        if skipsContentDecoding, !request.headers.contains(.acceptEncoding) {
            message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        // Apple's URLSession would set the type to application/x-www-form-urlencoded. RFC 9110 §8.3 lets a server
        // assume application/octet-stream for a body without a type.
        if platform == .apple, !request.body.isEmpty, !request.headers.contains(.contentType) {
            message.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        // No other request uses the connection, so the server need not keep it open (RFC 9112 §9.6).
        if closes { message.setValue("close", forHTTPHeaderField: "Connection") }
        return message
    }

    private static func hasDotSegment(_ target: String) -> Bool {
        target.upTo("?").parts("/").contains {
            let segment = PercentCoding.decodeLeniently(Array($0.utf8))
            return segment == Array(".".utf8) || segment == Array("..".utf8)
        }
    }
}
