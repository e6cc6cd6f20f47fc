// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Classifies the errors of a token refresh.
extension NetworkError {
    /// Whether the authorization server or the refresh closure reports that the refresh token is no longer valid.
    ///
    /// A status alone is not enough: proxies and gateways also send 400 and 401, and so does a server that rejects the
    /// client (`invalid_client`). RFC 6749 §5.2 specifies `invalid_grant` with 400; some servers send it with 401 or
    /// 403. GitHub sends `bad_refresh_token` with 200.
    var endsTokens: Bool {
        switch reason {
        case .notAuthenticated(.refreshRefused), .notAuthenticated(.refused), .notAuthenticated(.missingCredential):
            true
        case .status(let status):
            [400, 401, 403].contains(status.code) && Self.finalCodes.contains(oauthCode ?? "")
        case .decoding:
            response?.status == .ok && Self.finalCodes.contains(oauthCode ?? "")
        default: false
        }
    }

    private static let finalCodes: Set<String> = ["invalid_grant", "bad_refresh_token"]

    /// The `error` code in the JSON response of a token endpoint (RFC 6749 §5.2); nil for any other response.
    var oauthCode: String? {
        struct Failure: Decodable { let error: String }
        guard let response, response.mediaType?.isJSON == true, !response.isTruncated else { return nil }
        return try? JSONDecoder().decode(Failure.self, from: response.body).error
    }

    /// Returns the error of a refresh that signs the account out, for `error` that ends the tokens.
    static func refusedRefresh(_ error: NetworkError) -> NetworkError {
        NetworkError(
            .notAuthenticated(.refreshRefused), detail: "The server no longer refreshes the tokens.",
            hint: "Sign in again.", underlying: error)
    }

    /// Returns the error of a refresh, as the calls that wait for it receive it. The tokens are kept.
    ///
    /// A failure without a response keeps its reason, because it may affect the call itself. A status of the token
    /// endpoint, or a defect of its response, does not concern the call, and becomes
    /// `.notAuthenticated(.refreshFailed)`.
    static func failedRefresh(_ error: any Error) -> NetworkError {
        var cause = NetworkError(error)
        // The refresh was cancelled, not the calls that wait for it.
        if cause.isCancelled { cause.reason = .connectionLost(.requestMayHaveArrived) }
        let code = cause.oauthCode.map { "The server reports \"\($0.clipped(to: 64).printable)\"." }
        let detail = ["The tokens could not be refreshed.", code, cause.detail.isEmpty ? nil : cause.detail]
            .compactMap(\.self).joined(separator: " ")
        guard !cause.reason.mayPass, cause.reason != .storage else {
            cause.detail = detail
            return cause
        }
        var hint = cause.hint
        if case .status(let status) = cause.reason, [400, 401, 403].contains(status.code), hint == nil {
            hint =
                "The tokens are kept: only invalid_grant invalidates them. If this server reports it differently, "
                + "throw NetworkError(.notAuthenticated(.refreshRefused)) from the refresh."
        }
        return NetworkError(.notAuthenticated(.refreshFailed), detail: detail, hint: hint, underlying: cause)
    }
}
