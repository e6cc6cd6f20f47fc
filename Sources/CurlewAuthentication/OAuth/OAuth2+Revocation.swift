// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Revokes tokens, so that no copy of them is valid any more (RFC 7009).
extension OAuth2 {
    /// The kind of a token, a hint for the server's lookup (RFC 7009 §2.1).
    public enum TokenKind: String, Hashable, Sendable {
        /// An access token.
        case access = "access_token"
        /// A refresh token.
        case refresh = "refresh_token"
    }

    /// Returns the request that revokes a token. It succeeds for a token that the server does not or no longer know
    /// (RFC 7009 §2.2).
    ///
    /// Sending it throws `.configuration` if the client has no `revocationEndpoint`.
    public func revocation(of token: String, _ kind: TokenKind) -> Request<Void> {
        guard let revocationEndpoint else {
            return Request<Void>(
                .post,
                AbsoluteURL(
                    refused: NetworkError(
                        .configuration, detail: "No revocation endpoint is configured.",
                        hint: "Set it: OAuth2(…, revocationEndpoint: \"https://…\").")),
                body: .none, headers: [:], name: "OAuth2.revocation"
            ) { _, _ in }
        }
        return request(
            to: revocationEndpoint, ["token": token, "token_type_hint": kind.rawValue], name: "OAuth2.revocation"
        ) { _, _ in }
    }
}

extension TokenStore {
    /// Discards the tokens, and requests their revocation, so that copies of them are not valid either.
    ///
    /// The tokens are discarded first, as by `signOut()`, also where they cannot be read or removed, so a network
    /// failure does not prevent the sign-out. Then the refresh token is revoked, which invalidates the access tokens of
    /// the sign-in on most servers, and then the access token for the other servers. Without a `revocationEndpoint`
    /// nothing is sent.
    ///
    /// - `client`: sends the requests. They have no other credential and follow no redirect.
    ///
    /// Throws the error of `signOut()`, or else that of the revocation. A server that does not revoke access tokens
    /// (`unsupported_token_type`) causes no error if there was a refresh token.
    public func signOut(revoking oauth: OAuth2, with client: APIClient) async throws(NetworkError) {
        // Includes stored tokens of an earlier launch that have not been loaded.
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
