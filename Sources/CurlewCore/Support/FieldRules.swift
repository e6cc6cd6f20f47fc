// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What an app knows of its request fields, cookies, query items and members beyond what Curlew knows of them.
///
///     configuration.fields.harmless.insert("X-App-Version")        // the same response for everybody
///     configuration.fields.secret.insert("X-Device")               // a credential, whatever its name says
///     configuration.fields.harmlessCookies.insert("__cf_bm")       // identifies no user
///     configuration.fields.secretMembers.insert("appid")           // in a query, a form, JSON or XML
///     configuration.fields.secretPaths.insert("/bot*")             // /bot<token>/sendMessage
///
/// What is declared here counts everywhere: for logs at every level and their URLs, errors, descriptions of requests and
/// headers, `preview`, curl commands, redirects and caches. Interceptors declare in the same way what they attach
/// (`ValidatingInterceptor.declare(in:)`), so the name of an API key needs no word of the app.
///
/// A field is harmless, secret or unknown. A harmless one names and authenticates no user: it does not count when
/// a cache asks whose answer it is, and it goes along when a redirect leaves the origin. A secret one is never shown and
/// never leaves its origin. An unknown one is treated as a secret in both questions: its value makes the answer one
/// party's, and it stays at its origin.
public struct FieldRules: Hashable, Sendable {
    /// Request fields on which no answer depends, and that are no secret, also if their names end like one of a secret.
    /// What Curlew knows as a credential, such as `Authorization`, stays one. Default none.
    public var harmless: Set<HTTPField.Name>
    /// Request fields that are credentials, beyond those that Curlew knows or whose names say so. Default none.
    public var secret: Set<HTTPField.Name>
    /// Names of cookies that identify no user, compared byte by byte: load balancers, consent, bot detection. They are
    /// sent as any other, and do not count when a cache asks whose answer it is. Default none.
    public var harmlessCookies: Set<String>
    /// Names of query items, form fields, and members of JSON and XML whose values are never shown, beyond those that
    /// Curlew knows or whose names say so. Compared by their letters and digits, without regard to case. Default none.
    public var secretMembers: Set<String>
    /// Paths with secrets in them, as segments in which `*` stands for what is never shown: `/bot*`,
    /// `/services/*/*/*`. A pattern counts wherever its segments follow each other. Default none.
    public var secretPaths: Set<String>

    /// Rules that add nothing unless something is named.
    public init(
        harmless: Set<HTTPField.Name> = [], secret: Set<HTTPField.Name> = [], harmlessCookies: Set<String> = [],
        secretMembers: Set<String> = [], secretPaths: Set<String> = []
    ) {
        self.harmless = harmless
        self.secret = secret
        self.harmlessCookies = harmlessCookies
        self.secretMembers = secretMembers
        self.secretPaths = secretPaths
    }

    /// Whether the value of the field tells no two users apart.
    package func isHarmless(_ name: HTTPField.Name) -> Bool {
        !secret.contains(name) && (name.isHarmless || harmless.contains(name) && !name.isCredential)
    }

    /// What of a `Cookie` field tells parties apart; nil if nothing does.
    package func identifying(cookie value: String) -> String? {
        guard !harmlessCookies.isEmpty else { return value }
        let semicolon = UInt8(ascii: ";")
        let kept = value.utf8.split(separator: semicolon).filter { pair in
            let name = pair.drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 != UInt8(ascii: "=") }
            return !harmlessCookies.contains { $0.utf8.elementsEqual(name) }
        }
        guard !kept.isEmpty else { return nil }
        return String(decoding: Array(kept.joined(separator: [semicolon])), as: UTF8.self)
    }
}
