// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Revokes tokens, so that no copy of them remains valid (RFC 7009).
extension OAuth2 {
    /// The kind of a token to revoke. It is sent as a hint for the server's lookup (RFC 7009 §2.1).
    package enum TokenKind: String, Hashable, Sendable {
        /// An access token.
        case access = "access_token"
        /// A refresh token.
        case refresh = "refresh_token"
    }

    /// Returns the request that revokes a token. The request also succeeds if the server does not know the token (RFC
    /// 7009 §2.2).
    ///
    /// Sending the request throws `.configuration` if `revocationEndpoint` is nil.
    package func revocation(of token: String, _ kind: TokenKind) -> Request<Void> {
        guard let revocationEndpoint else {
            return Request<Void>(
                .post,
                refusing: NetworkError(
                    .configuration, detail: "No revocation endpoint is configured.",
                    hint: "Set it: OAuth2(…, revocationEndpoint: \"https://…\")."),
                name: "OAuth2.revocation"
            ) { _, _ in }
        }
        return request(
            to: revocationEndpoint, ["token": token, "token_type_hint": kind.rawValue], name: "OAuth2.revocation"
        ) { _, _ in }
    }
}

extension TokenStore {
    /// Signs out: discards the tokens and requests that the server revoke them, so that copies of them become invalid.
    ///
    /// The tokens are discarded first, as by `signOut()`, even if the storage cannot be read or changed, so a network
    /// failure does not prevent the sign-out. Then the refresh token is revoked; on most servers this also invalidates
    /// the access tokens of the sign-in. For the other servers, the access token is revoked last. If
    /// `revocationEndpoint` is nil, nothing is sent.
    ///
    /// - `client`: sends the requests, without a credential from its pipeline. The requests follow no redirect.
    ///
    /// Throws the error that `signOut()` throws, or otherwise the error of the revocation. If there was a refresh
    /// token, it is not an error that a server does not revoke access tokens (`unsupported_token_type`).
    public func signOut(revoking oauth: OAuth2, with client: APIClient) async throws(NetworkError) {
        // Loads the tokens that an earlier launch has stored, so that they are also revoked.
        _ = try? await tokens
        let last = state.newest
        var failure: NetworkError?
        do throws(NetworkError) { try await signOut() } catch { failure = error }
        if let last, oauth.revocationEndpoint != nil {
            do throws(NetworkError) { try await Self.revoke(last, oauth, client) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private static func revoke(_ tokens: Tokens, _ oauth: OAuth2, _ client: APIClient) async throws(NetworkError) {
        if let refreshToken = tokens.refreshToken {
            try await client.send(oauth.revocation(of: refreshToken, .refresh))
        }
        do throws(NetworkError) {
            try await client.send(oauth.revocation(of: tokens.accessToken, .access))
        } catch {
            guard tokens.refreshToken != nil, error.oauthCode == "unsupported_token_type" else { throw error }
        }
    }
}
