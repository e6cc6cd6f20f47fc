// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// What a user of the command can do about an error. The hints of the library are for programmers: they name its API.
enum Advice {
    /// Returns the hint of the error, or another one if that names the API. Nil if there is no advice.
    static func text(for error: NetworkError) -> String? {
        guard let hint = error.hint else { return standard(error) }
        return namesAPI(hint) ? standard(error) : hint
    }

    private static let marks = [
        "TransportConfiguration", "TLSConfiguration", "Timeouts", "Limits", "ptions.", "nterceptor", "APIClient",
        "NetworkError", "Pipeline", ".get(", "`",
    ]

    private static func namesAPI(_ hint: String) -> Bool {
        marks.contains { hint.utf8.firstRange(of: $0.utf8) != nil }
    }

    private static func standard(_ error: NetworkError) -> String? {
        switch error.reason {
        case .timedOut(.total): "Give the whole call more time: --max-time SECONDS."
        case .timedOut(.connect): "Check host and port, or give it more time: --connect-timeout SECONDS."
        case .proxyFailed: "Check --proxy, or the variables http_proxy, https_proxy and no_proxy."
        case .secureConnectionFailed:
            "Check the URL. A private authority is trusted with --cacert FILE, and --cert presents a certificate."
        case .configuration where error.hint?.utf8.firstRange(of: "TLSConfiguration".utf8) != nil:
            "Check --cert, --key and --cacert: the files, and that key and certificate belong together."
        case .notAuthenticated: "Give a credential with --auth."
        default: nil
        }
    }
}
