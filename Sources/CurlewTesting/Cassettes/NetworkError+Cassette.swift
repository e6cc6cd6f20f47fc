// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension NetworkError {
    /// Creates the error that the field `_error` of an entry describes: its label, a colon and its detail. A text of
    /// another program, such as `net::ERR_FAILED`, becomes `.connectionLost(.requestMayHaveArrived)`.
    init(recorded text: String, _ request: HTTPRequest) {
        let label = String(text.upTo(":"))
        let reason = Self.reasons[label]
        let detail = reason == nil ? text[...] : Substring(text.utf8.dropFirst(label.utf8.count + 1))
        self.init(
            reason ?? .connectionLost(.requestMayHaveArrived), detail: String(detail.trimmed()),
            request: RequestLine(request))
    }

    /// The reasons for which a transport fails, by their labels.
    private static let reasons: [String: Reason] = {
        let tls: [TLSFailure] = [
            .expired, .notYetValid, .untrusted, .wrongHost, .pinMismatch, .clientCertificate, .handshake,
        ]
        let phases: [Phase] = [.queue, .connect, .firstByte, .idle, .attempt, .total]
        let limits: [Limit] = [.responseBody, .responseHeaders, .redirects]
        let sources: [AuthFailure] = [
            .missingCredential, .sourceFailed, .signedOut, .refreshRefused, .refreshFailed, .tooManyRefreshes,
            .refused,
        ]
        let policies: [Policy] = [.overload, .shutdown, .addressPolicy, .preview, .mock, .cassette]
        let all: [Reason] =
            [
                .invalidRequest, .configuration, .encoding, .unreachable, .badResponse, .decoding, .storage,
                .interceptor, .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived),
                .proxyFailed(.unreachable), .proxyFailed(.notAuthenticated), .proxyFailed(.refused(nil)),
            ]
            + (400...599).map { .proxyFailed(.refused(HTTPStatus($0))) }
            + tls.map { .secureConnectionFailed($0) } + phases.map { .timedOut($0) }
            + limits.map { .limitExceeded($0) } + sources.map { .notAuthenticated($0) }
            + policies.map { .refused(by: $0) }
        return Dictionary(all.map { (NetworkError($0).label, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}
