// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The part of a sign-in that happens in a browser: two texts, no I/O.
extension OAuth2 {
    /// A text that nobody can guess, to recognise one's own answer by (RFC 6749 §10.12). 128 bits.
    public static func makeState() -> String {
        DigestAuthenticator.randomNonce()
    }

    /// The page that asks the person, to be opened in a browser (RFC 6749 §4.1.1, RFC 7636 §4.3).
    ///
    /// - `endpoint`: the server's authorization endpoint. Plain http is refused, except to this machine.
    /// - `redirect`: where the browser comes back to, as registered with the server.
    /// - `extra`: further items, such as `prompt` or `login_hint`.
    ///
    /// Throws `NetworkError` with `.invalidRequest` for an endpoint that is no absolute URL or not secure.
    public func authorizationURL(
        at endpoint: String, redirect: String, _ pkce: PKCE, state: String, extra: KeyValuePairs<String, String> = [:]
    ) throws(NetworkError) -> String {
        var request = try HTTPRequest(url: endpoint)
        guard request.origin.isConfidential else {
            throw NetworkError(
                .invalidRequest, detail: "The authorization endpoint is not secure: \(request.origin).",
                hint: "Use https.")
        }
        request.appendQuery("response_type", "code")
        request.appendQuery("client_id", clientID)
        request.appendQuery("redirect_uri", redirect)
        if !scopes.isEmpty { request.appendQuery("scope", scopes.joined(separator: " ")) }
        request.appendQuery("state", state)
        request.appendQuery("code_challenge", pkce.challenge)
        request.appendQuery("code_challenge_method", "S256")
        for (name, value) in extra { request.appendQuery(name, value) }
        return request.urlString
    }

    /// The code in the URL that the browser came back with (RFC 6749 §4.1.2).
    ///
    /// Throws `NetworkError`: `.invalidRequest` if the answer is not to this sign-in (another `state`) or has no code, and
    /// `.notAuthenticated(.refused)` if the person or the server declined, with what the server said in `detail`.
    public func code(from url: String, state: String) throws(NetworkError) -> String {
        let query =
            url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            .split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        var items: [String: String] = [:]
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = PercentCoding.decodeForm(String(parts[0])) ?? String(parts[0])
            // Of an item that repeats nothing is believed.
            items[name] = items[name] == nil && parts.count > 1 ? PercentCoding.decodeForm(String(parts[1])) : ""
        }
        guard let returned = items["state"], !state.isEmpty, Self.isSame(returned, state) else {
            throw NetworkError(
                .invalidRequest, detail: "The answer is not to this sign-in: its state is another one.",
                hint: "Begin the sign-in again.")
        }
        if let error = items["error"], !error.isEmpty {
            let words = [error, items["error_description"] ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
            throw NetworkError(
                .notAuthenticated(.refused), detail: "The server declined: \(words.clipped(to: 300).printable)")
        }
        guard let code = items["code"], !code.isEmpty else {
            throw NetworkError(.invalidRequest, detail: "The answer has no code.", hint: "Begin the sign-in again.")
        }
        return code
    }

    /// Takes the same time wherever the texts differ.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
