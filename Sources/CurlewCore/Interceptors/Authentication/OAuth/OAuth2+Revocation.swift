// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Tokens that nobody is to use any more, whatever copies there are (RFC 7009).
extension OAuth2 {
    /// Which of the two kinds a token is, so that the server looks in the right place first (RFC 7009 §2.1).
    public enum TokenKind: String, Hashable, Sendable {
        /// Goes with calls.
        case access = "access_token"
        /// Gets new tokens.
        case refresh = "refresh_token"
    }

    /// Makes a token worthless. A token that the server does not know, or not any more, is fine (RFC 7009 §2.2).
    ///
    /// Sending it throws `.configuration` if the client has no `revocationEndpoint`.
    public func revocation(of token: String, _ kind: TokenKind) -> Request<Void> {
        guard let revocationEndpoint else {
            return Request<Void>(
                .post,
                AbsoluteURL(
                    refused: NetworkError(
                        .configuration, detail: "There is no revocation endpoint.",
                        hint: "Name it: OAuth2(…, revocationEndpoint: \"https://…\").")),
                headers: [:], content: .none, name: "OAuth2.revocation"
            ) { _, _ in }
        }
        return request(
            to: revocationEndpoint, ["token": token, "token_type_hint": kind.rawValue], name: "OAuth2.revocation"
        ) { _, _ in }
    }
}

extension TokenStore {
    /// Forgets the tokens, and asks the server to make them worthless, so that a copy of them is of no use either.
    ///
    /// They are forgotten first, as by `signOut()`, also where they cannot be read or removed: what the network does
    /// keeps nobody signed in. Then the refresh token is revoked, which ends the access tokens of the sign-in with most
    /// servers, and the access token for the others. Without a `revocationEndpoint` nothing is sent.
    ///
    /// - `client`: sends the requests. They carry no other credential and follow no redirect.
    ///
    /// Throws the error of `signOut()`, else that of the revocation. A server that does not revoke access tokens
    /// (`unsupported_token_type`) is fine when there was a refresh token.
    public func signOut(revoking oauth: OAuth2, with client: APIClient) async throws(NetworkError) {
        // Also what was kept by an earlier launch and has not been asked for.
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
