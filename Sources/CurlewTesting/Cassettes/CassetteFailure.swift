// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The text of a failure in the field `_error` of a HAR document: its label, a colon and its detail.
enum CassetteFailure {
    /// Returns the text of an error, without secrets.
    static func text(of error: NetworkError, _ redactor: CassetteRedactor) -> String {
        let detail = redactor.text(error.detail).printable.clipped(to: 500)
        return detail.isEmpty ? error.label : "\(error.label): \(detail)"
    }

    /// Returns the error that a text describes. A text of another program, such as `net::ERR_FAILED`, becomes
    /// `.connectionLost(.requestMayHaveArrived)`.
    static func error(_ text: String, _ request: HTTPRequest) -> NetworkError {
        let label = String(text.upTo(":"))
        let reason = reasons[label] ?? status(label) ?? .connectionLost(.requestMayHaveArrived)
        let rest =
            reasons[label] == nil && status(label) == nil ? text[...] : text.utf8.dropFirst(label.utf8.count + 1).text
        return NetworkError(
            reason, detail: String(rest.trimmed()), request: NetworkError.RequestLine(request))
    }

    private static func status(_ label: String) -> NetworkError.Reason? {
        let words = label.parts(" ")
        guard let code = words.last.flatMap({ Int($0) }), (100...999).contains(code) else { return nil }
        if words.count == 2, words[0] == "status" { return .status(HTTPStatus(code)) }
        if words.count == 3, words[0] == "proxyFailed" { return .proxyFailed(.refused(HTTPStatus(code))) }
        return nil
    }

    private static let reasons: [String: NetworkError.Reason] = {
        let tls: [NetworkError.TLSFailure] = [
            .expired, .notYetValid, .untrusted, .wrongHost, .pinMismatch, .clientCertificate, .handshake,
        ]
        let phases: [NetworkError.Phase] = [.queue, .connect, .firstByte, .idle, .attempt, .total]
        let limits: [NetworkError.Limit] = [.responseBody, .responseHeaders, .redirects]
        let sources: [NetworkError.AuthFailure] = [
            .missingCredential, .sourceFailed, .signedOut, .refreshRefused, .refreshFailed,
            .tooManyRefreshes, .refused,
        ]
        let policies: [NetworkError.Policy] = [.overload, .shutdown, .addressPolicy, .preview, .mock, .cassette]
        let all: [NetworkError.Reason] =
            [
                .invalidRequest, .configuration, .encoding, .unreachable, .badResponse, .decoding, .storage,
                .interceptor, .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived),
                .proxyFailed(.unreachable), .proxyFailed(.notAuthenticated), .proxyFailed(.refused(nil)),
            ]
            + tls.map { .secureConnectionFailed($0) } + phases.map { .timedOut($0) }
            + limits.map { .limitExceeded($0) } + sources.map { .notAuthenticated($0) }
            + policies.map { .refused(by: $0) }
        return Dictionary(all.map { (NetworkError($0).label, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}

extension Substring.UTF8View {
    fileprivate var text: Substring { Substring(self) }
}
