// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
public import CurlewHTTP

/// The browser part of a sign-in: creates the authorization URL and parses the redirect URL, without I/O.
extension OAuth2 {
    /// Returns a random `state` of 128 bits, which ties a response to one authorization request (RFC 6749 §10.12).
    public static func makeState() -> String {
        DigestAuthenticator.randomNonce()
    }

    /// Returns the URL of the authorization page, to be opened in a browser (RFC 6749 §4.1.1, RFC 7636 §4.3).
    ///
    /// - `endpoint`: the server's authorization endpoint. Plain http is refused, except for loopback.
    /// - `redirect`: the URI that the browser returns to, as registered with the server.
    /// - `state`: a value of `makeState()`, to keep for `code(from:redirect:state:)`.
    /// - `extra`: further query items, such as `prompt` or `login_hint`. Default none.
    ///
    /// Throws `.invalidRequest` if `endpoint` is not an absolute URL or is not secure.
    public func authorizationURL(
        at endpoint: String, redirect: String, _ pkce: OAuth2.PKCE, state: String,
        extra: KeyValuePairs<String, String> = [:]
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

    /// Returns the authorization code from the URL to which the browser was redirected (RFC 6749 §4.1.2).
    ///
    /// - `url`: the complete URL, including its query.
    /// - `redirect`, `state`: the values of the authorization request; `state` must not be empty.
    ///
    /// Throws `.invalidRequest` if the response has no code or does not belong to this sign-in: its URI or `state` is
    /// different, or its `iss` is not the `issuer` that the app specifies (RFC 9207). Throws
    /// `.notAuthenticated(.refused)` if the user or the server declined, with the server's message in `detail`.
    public func code(from url: String, redirect: String, state: String) throws(NetworkError) -> String {
        let response = RedirectURI(url)
        guard response.belongs(to: RedirectURI(redirect)) else {
            throw NetworkError(
                .invalidRequest, detail: "The response does not belong to this sign-in: its redirect URI is different.",
                hint: "Pass the whole URL that the browser was redirected to, and the redirect URI as registered.")
        }
        let items = response.items
        guard let returned = items["state"], !state.isEmpty, Self.isSame(returned, state) else {
            throw NetworkError(
                .invalidRequest, detail: "The response does not belong to this sign-in: its state is different.",
                hint: "Start the sign-in again.")
        }
        // The issuer is checked first: neither errors nor codes from another server belong to this sign-in.
        if let issuer {
            guard let returned = items["iss"], Self.isSame(returned, issuer) else {
                let found = items["iss"].map { "\"\($0.clipped(to: 200).printable)\"" } ?? "missing"
                throw NetworkError(
                    .invalidRequest,
                    detail: "The response is not from this server: its iss is \(found), not \"\(issuer)\".",
                    hint: "Compare with authorization_response_iss_parameter_supported and issuer in the server's "
                        + "metadata, and start the sign-in again.")
            }
        }
        if let error = items["error"], !error.isEmpty {
            let words = [error, items["error_description"] ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
            throw NetworkError(
                .notAuthenticated(.refused), detail: "The server declined: \(words.clipped(to: 300).printable)")
        }
        guard let code = items["code"], !code.isEmpty else {
            throw NetworkError(.invalidRequest, detail: "The response has no code.", hint: "Start the sign-in again.")
        }
        return code
    }

    /// Returns whether both strings are equal, in a time that does not depend on where they differ.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A redirect URI, or the URL of a response that was sent to it. It is parsed and compared as bytes, because a URL type
/// may not support the custom scheme of an app.
private struct RedirectURI {
    /// The scheme and authority in lower case, and the path.
    private let base: [UInt8]
    private let query: [Substring.UTF8View]

    init(_ text: String) {
        let whole = Substring(text).utf8
        let url = whole.prefix { $0 != UInt8(ascii: "#") }
        let base = url.prefix { $0 != UInt8(ascii: "?") }
        query = url.dropFirst(base.count + 1).split(separator: UInt8(ascii: "&"))
        self.base = Self.normal(Array(base))
    }

    /// Returns whether this response was sent to `redirect` and contains its query items.
    func belongs(to redirect: RedirectURI) -> Bool {
        base == redirect.base
            && redirect.query.allSatisfy { named in query.contains { $0.elementsEqual(named) } }
    }

    /// The decoded query items. The value is empty for an item that is repeated or has no value, so that it is
    /// rejected.
    var items: [String: String] {
        query.reduce(into: [:]) { items, item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = Self.decoded(item.dropFirst(name.count + 1))
            let key = Self.decoded(name) ?? String(Substring(name))
            items[key] = items[key] == nil && name.count < item.count ? value : ""
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        PercentCoding.decode(String(Substring(text)), plusAsSpace: true)
    }

    /// Normalizes the part of a URI before the query: scheme and host in lower case, and the path `/` if the path after
    /// a host is empty (RFC 3986 §6.2.2, §6.2.3).
    private static func normal(_ base: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard let colon = base.firstIndex(of: UInt8(ascii: ":")) else { return base }
        let remainder = base[(colon + 1)...]
        guard remainder.starts(with: [slash, slash]) else { return lower(base[...colon]) + remainder }
        let path = remainder.dropFirst(2).firstIndex(of: slash) ?? base.endIndex
        return lower(base[..<path]) + (path == base.endIndex ? [slash] : base[path...])
    }

    private static func lower(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}

extension OAuth2 {
    /// Proof Key for Code Exchange with S256 (RFC 7636): proves that the client that exchanges an authorization code is
    /// the one that requested it. Create a new proof key for each sign-in, and keep it until the code has been
    /// exchanged.
    public struct PKCE: Hashable, Sendable {
        /// The secret that is sent to exchange the authorization code. It has 43–128 characters.
        public let verifier: String

        /// Creates a proof key with a random secret of 256 bits from the system's generator.
        public init() {
            var random = SystemRandomNumberGenerator()
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            verifier = Base64URL.encode(Data(bytes))
        }

        /// Creates a proof key from a stored secret. Returns nil unless the secret has 43–128 unreserved characters
        /// (RFC 7636 §4.1).
        public init?(verifier: String) {
            let isSound = verifier.utf8.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || "-._~".utf8.contains($0)
            }
            guard isSound, (43...128).contains(verifier.utf8.count) else { return nil }
            self.verifier = verifier
        }

        /// The SHA-256 hash of the secret, in base64url. It is sent with the authorization request.
        public var challenge: String {
            Base64URL.encode(MessageDigest.sha256(Data(verifier.utf8)))
        }
    }
}

extension OAuth2.PKCE: MirroredByDescription {
    /// The challenge. The description never contains the secret.
    public var description: String { "PKCE(\(challenge))" }
}
