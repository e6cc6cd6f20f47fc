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
    /// - `url`: the whole URL, its query included.
    /// - `redirect`: as in the authorization request. An answer that came to another place is not to this sign-in.
    ///
    /// Throws `NetworkError`: `.invalidRequest` if the answer is not to this sign-in (another place, another `state`, or
    /// another `iss` than `issuer` if the app names one: RFC 9207) or has no code, and `.notAuthenticated(.refused)` if
    /// the person or the server declined, with what the server said in `detail`.
    public func code(from url: String, redirect: String, state: String) throws(NetworkError) -> String {
        let answer = RedirectURI(url)
        guard answer.isAnswer(to: RedirectURI(redirect)) else {
            throw NetworkError(
                .invalidRequest, detail: "The answer is not to this sign-in: it came to another redirect URI.",
                hint: "Give the whole URL that the browser was sent to, and the redirect URI as it is registered.")
        }
        let items = answer.items
        guard let returned = items["state"], !state.isEmpty, Self.isSame(returned, state) else {
            throw NetworkError(
                .invalidRequest, detail: "The answer is not to this sign-in: its state is another one.",
                hint: "Begin the sign-in again.")
        }
        // Before anything else is believed: errors of another server are no more to this sign-in than its codes.
        if let issuer {
            guard let returned = items["iss"], Self.isSame(returned, issuer) else {
                let found = items["iss"].map { "\"\($0.clipped(to: 200).printable)\"" } ?? "missing"
                throw NetworkError(
                    .invalidRequest,
                    detail: "The answer is not of this server: its iss is \(found), not \"\(issuer)\".",
                    hint: "Compare with authorization_response_iss_parameter_supported and issuer in the server's "
                        + "metadata, and begin the sign-in again.")
            }
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

/// A redirect URI, or the URL of an answer to one, by its bytes: an app's own scheme need not be one that a URL type
/// understands.
private struct RedirectURI {
    /// Scheme and authority in lower case, and the path.
    private let place: [UInt8]
    private let query: [Substring.UTF8View]

    init(_ text: String) {
        let whole = Substring(text).utf8
        let url = whole.prefix { $0 != UInt8(ascii: "#") }
        let place = url.prefix { $0 != UInt8(ascii: "?") }
        query = url.dropFirst(place.count + 1).split(separator: UInt8(ascii: "&"))
        self.place = Self.normal(Array(place))
    }

    /// Whether an answer came to the place that was named, and has the items that were named.
    func isAnswer(to redirect: RedirectURI) -> Bool {
        place == redirect.place
            && redirect.query.allSatisfy { named in query.contains { $0.elementsEqual(named) } }
    }

    /// Of an item that repeats nothing is believed.
    var items: [String: String] {
        query.reduce(into: [:]) { items, item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = Self.decoded(item.dropFirst(name.count + 1))
            let key = Self.decoded(name) ?? String(Substring(name))
            items[key] = items[key] == nil && name.count < item.count ? value : ""
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        PercentCoding.decodeForm(String(Substring(text)))
    }

    /// Scheme and host are the same in either case; no path behind a host is the path `/` (RFC 3986 §6.2.2, §6.2.3).
    private static func normal(_ place: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard let colon = place.firstIndex(of: UInt8(ascii: ":")) else { return place }
        let rest = place[(colon + 1)...]
        guard rest.starts(with: [slash, slash]) else { return lower(place[...colon]) + rest }
        let path = rest.dropFirst(2).firstIndex(of: slash) ?? place.endIndex
        return lower(place[..<path]) + (path == place.endIndex ? [slash] : place[path...])
    }

    private static func lower(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}
