// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// An app's declarations about its request fields, cookies, query items and members, in addition to those built into
/// Curlew.
///
///     configuration.fields.harmless.insert("X-App-Version")        // the same response for every value
///     configuration.fields.secret.insert("X-Device")               // a credential, whatever its name says
///     configuration.fields.harmlessCookies.insert("__cf_bm")       // identifies no user
///     configuration.fields.secretMembers.insert("appid")           // in a query, a form, JSON or XML
///     configuration.fields.secretPaths.insert("/bot*")             // /bot<token>/sendMessage
///
/// The declarations apply everywhere: to logs at every level and their URLs, errors, descriptions of requests and
/// headers, `preview`, curl commands, redirects and caches. Interceptors declare what they attach in the same way
/// (`ValidatingInterceptor.declare(in:)`), so the app need not declare the name of an API key.
///
/// A field is harmless, secret or unknown. A harmless field identifies and authenticates no user: it is not part of the
/// principal, and it is sent after a redirect to another origin. A secret field is never shown and is sent to its
/// origin only. An unknown field is part of the principal and is sent to its origin only.
public struct FieldRules: Hashable, Sendable {
    /// The request fields that do not affect responses and are not secret, even if their names end like that of a
    /// secret. Built-in credentials such as `Authorization` remain credentials. Default none.
    public var harmless: Set<HTTPField.Name>
    /// The request fields that are credentials, in addition to those that Curlew recognizes by their names. Default
    /// none.
    public var secret: Set<HTTPField.Name>
    /// The names of cookies that identify no user, compared byte by byte: load balancers, consent, bot detection. They
    /// are sent like any other cookie, and are not part of the principal. Default none.
    public var harmlessCookies: Set<String>
    /// The names of query items, form fields, and members of JSON and XML whose values are never shown, in addition to
    /// those that Curlew recognizes by their names. Only letters and digits are compared, without regard to case.
    /// Default none.
    public var secretMembers: Set<String>
    /// Patterns of paths that contain secrets, as segments in which `*` matches what is never shown: `/bot*`,
    /// `/services/*/*/*`. A pattern matches anywhere in a path. Default none.
    public var secretPaths: Set<String>

    /// Creates rules. Omitted parameters are empty.
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

    /// Returns whether the value of the field distinguishes no users.
    package func isHarmless(_ name: HTTPField.Name) -> Bool {
        !secret.contains(name) && (name.isHarmless || harmless.contains(name) && !name.isCredential)
    }

    /// Returns the part of a `Cookie` field that distinguishes parties; nil if there is none.
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
