// SPDX-License-Identifier: MIT

import Curlew

/// The exit codes of the command, by class of failure.
enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case redirection = 3
    case clientError = 4
    case serverError = 5
    case unreachable = 6
    case lost = 7
    case timeout = 8
    case tls = 9
    case badResponse = 10
    case decoding = 11
    case credentials = 12
    case refused = 13
    case storage = 14
    case proxy = 15
    case interrupted = 130
    case closed = 141

    var meaning: String {
        switch self {
        case .success: "The response has a status from 200 to 299 (any with --ignore-status)."
        case .failure: "Another failure."
        case .usage: "The arguments, the URL or an option are not valid. Nothing was sent."
        case .redirection: "The status is 3xx, and the redirect was not followed."
        case .clientError: "The status is 4xx."
        case .serverError: "The status is 5xx."
        case .unreachable: "The host is unknown, or the server refuses connections."
        case .lost: "The connection was lost."
        case .timeout: "A time limit was reached."
        case .tls: "The secure connection failed: a certificate or the handshake."
        case .badResponse: "The response violates HTTP, is too large, or its checksum is wrong."
        case .decoding: "A body or a file cannot be read: JSON, HAR."
        case .credentials: "A credential is missing or was refused."
        case .refused: "A rule of the client refused the request."
        case .storage: "A file cannot be read or written."
        case .proxy: "The proxy failed or refused."
        case .interrupted: "Interrupted with Ctrl-C. A partial download stays and can be continued."
        case .closed: "The reader of the output has closed it."
        }
    }

    init(_ status: HTTPStatus) {
        switch status.code {
        case 300..<400: self = .redirection
        case 400..<500: self = .clientError
        case 500..<600: self = .serverError
        default: self = .success
        }
    }

    init(_ error: NetworkError) {
        switch error.reason {
        case .cancelled: self = .interrupted
        case .invalidRequest, .configuration, .encoding: self = .usage
        case .unreachable: self = .unreachable
        case .proxyFailed: self = .proxy
        case .secureConnectionFailed: self = .tls
        case .timedOut: self = .timeout
        case .connectionLost: self = .lost
        case .badResponse, .limitExceeded: self = .badResponse
        case .status(let status): self = ExitCode(status)
        case .decoding: self = .decoding
        case .notAuthenticated: self = .credentials
        case .refused: self = .refused
        case .storage: self = .storage
        case .interceptor: self = .failure
        @unknown default: self = .failure
        }
    }
}

/// What a user of the command can do about an error. The hints of the library are for programmers: they name its API.
enum Advice {
    /// Returns the hint of the error, or another one if that names the API. Nil if there is no advice.
    static func text(for error: NetworkError) -> String? {
        guard let hint = error.hint else { return standard(error) }
        return namesAPI(hint) ? standard(error) : hint
    }

    private static let marks = [
        "TransportConfiguration", "TransportConfiguration.TLS", "Timeouts", "Limits", "ptions.", "nterceptor",
        "APIClient",
        "NetworkError", "Pipeline", ".get(", "`", ".bearer", ".basic", ".digest", "for:", "json:",
    ]

    private static func namesAPI(_ hint: String) -> Bool {
        marks.contains { hint.utf8.firstRange(of: $0.utf8) != nil }
    }

    private static func standard(_ error: NetworkError) -> String? {
        switch error.reason {
        case .timedOut(.total): "Give the whole call more time: --max-time SECONDS."
        case .timedOut(.connect): "Check host and port."
        case .proxyFailed: "Check --proxy, or the variables http_proxy, https_proxy and no_proxy."
        case .secureConnectionFailed: "Check the URL. A private authority is trusted with --cacert FILE."
        case .configuration where error.hint?.utf8.firstRange(of: "TransportConfiguration.TLS".utf8) != nil:
            "Check --cacert."
        case .notAuthenticated, .status(.unauthorized): "Give a credential with --auth."
        default: nil
        }
    }
}
