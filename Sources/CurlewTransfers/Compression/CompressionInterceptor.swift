// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The interceptor of `.compressingRequests()`, where its rules are documented.
struct CompressionInterceptor: ValidatingInterceptor, ScopedInterceptor {
    private let rule: CompressionRule
    private let refusals = Locked(CompressionRefusals())

    init(minimum: Int, streaming: Bool) {
        rule = CompressionRule(minimum: minimum, streaming: streaming)
    }

    var placement: Placement { .compression }

    /// `.anonymous`: no credential is added, and responses do not depend on the coding of the request.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let time = next.context.time
        let wanted = rule.form(of: request)
        let form = refusals.withLock { $0.allowed(wanted, for: request.origin, at: time.now) }
        guard let compressed = try await compressed(request, form) else { return try await next(request) }
        let response = try await next(compressed)
        guard let refusal = Self.refusal(in: response, of: form) else { return response }
        guard request.body.canReplay else {
            refusals.withLock { $0.remember(refusal, of: request.origin, at: time.now) }
            return response
        }
        try await response.body.finish(on: time)
        let context = next.context.following(response, because: .serverAsked)
        let second = try await next.again(request, in: context)
        // The same status again has another reason than the coding.
        if second.status != response.status {
            refusals.withLock { $0.remember(refusal, of: request.origin, at: time.now) }
        }
        return second
    }

    private func compressed(_ request: HTTPRequest, _ form: CompressionRule.Form) async throws -> HTTPRequest? {
        var compressed = request
        switch form {
        case .unchanged: return nil
        case .atOnce:
            guard let bytes = request.body.data, let smaller = try await GzipEncoder.compressed(bytes) else {
                return nil
            }
            compressed.body = .bytes(smaller)
        case .whileSending:
            let isStream = if case .stream = request.body.kind { true } else { false }
            compressed.body = request.body.compressedWhileSending(flushing: isStream)
        }
        compressed.headers[.contentEncoding] = "gzip"
        return compressed
    }

    /// Returns what a response refuses. A 415 that lists gzip as acceptable is about the media type (RFC 9110
    /// §15.5.16).
    private static func refusal(
        in response: HTTPResponse, of form: CompressionRule.Form
    ) -> CompressionRefusals.Refusal? {
        switch response.status {
        case .unsupportedMediaType: acceptsGzip(response) ? nil : .coding
        case .lengthRequired where form == .whileSending: .unknownLength
        default: nil
        }
    }

    private static func acceptsGzip(_ response: HTTPResponse) -> Bool {
        response.headers[values: .acceptEncoding].contains { line in
            line.parts(",").contains { member in
                let parts = member.parts(";").map { $0.trimmed().lowercased() }
                guard parts.first == "gzip" || parts.first == "x-gzip" else { return false }
                return !parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
            }
        }
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        rule.minimum >= 0
            ? nil : "The minimum of request compression is \(rule.minimum) bytes. Make it 0 or more."
    }
}

extension CompressionInterceptor: CustomStringConvertible {
    /// `Compression`.
    var description: String { "Compression" }
}
