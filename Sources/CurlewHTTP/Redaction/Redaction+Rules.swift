// SPDX-License-Identifier: MIT

extension Redaction {
    /// The names that an app declares as secret or harmless, in addition to those that Curlew knows: request fields,
    /// cookies, query items, form fields, members of JSON, and parts of URL paths.
    ///
    ///     configuration.fields.harmless.insert("X-App-Version")        // the same response for every value
    ///     configuration.fields.secret.insert("X-Device")               // a credential, whatever its name says
    ///     configuration.fields.harmlessCookies.insert("__cf_bm")       // identifies no user
    ///     configuration.fields.secretMembers.insert("appid")           // in a query, a form or JSON
    ///     configuration.fields.secretPaths.insert("/bot*")             // /bot<token>/sendMessage
    ///
    /// The declarations apply everywhere: to logs at every level, the URLs in them, errors, descriptions of requests
    /// and headers, `preview`, curl commands, redirects and caches. Interceptors declare the fields that they attach
    /// (`InterceptorTraits.fields`), so the app does not have to declare the field of an API key.
    ///
    /// A request field is harmless, secret or unknown:
    ///
    /// - A harmless field identifies and authenticates no user. It is not part of the principal, and it is also sent
    ///   after a redirect to another origin.
    /// - A secret field is never shown and is sent to its origin only.
    /// - An unknown field is part of the principal and is sent to its origin only.
    public struct Rules: Hashable, Sendable {
        /// The request fields that do not affect responses and are not secret, even if their names have a word such as
        /// `Token` or `Key`. Built-in credentials such as `Authorization` remain credentials. Default none.
        public var harmless: Set<HTTPField.Name>
        /// The request fields that are credentials, in addition to those that Curlew recognizes by their names. A field
        /// that is also in `harmless` is secret. Default none.
        public var secret: Set<HTTPField.Name>
        /// The names of cookies that identify no user, such as those of load balancers, consent banners and bot
        /// detection. Names are compared byte by byte. The cookies are sent like any other, but are not part of the
        /// principal. Default none.
        public var harmlessCookies: Set<String>
        /// The names of query items, form fields, and members of JSON whose values are never shown, in addition to
        /// those that Curlew recognizes by their names. Names are compared without regard to case, `-`, `_`, `.`, `:`,
        /// spaces and brackets. Default none.
        public var secretMembers: Set<String>
        /// The patterns of URL paths that contain secrets: `/bot*`, `/services/*/*/*`. In a segment, `*` matches one or
        /// more characters, which are never shown. A pattern matches anywhere in a path, without regard to case.
        /// Default none.
        public var secretPaths: Set<String>

        /// Creates rules with the given declarations. Omitted parameters are empty.
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

        package mutating func formUnion(_ other: Redaction.Rules) {
            harmless.formUnion(other.harmless)
            secret.formUnion(other.secret)
            harmlessCookies.formUnion(other.harmlessCookies)
            secretMembers.formUnion(other.secretMembers)
            secretPaths.formUnion(other.secretPaths)
        }

        /// Returns whether the field identifies no user: Curlew knows it as harmless, or it is declared as harmless and
        /// is not a built-in credential. A field that is declared as secret is never harmless.
        package func isHarmless(_ name: HTTPField.Name) -> Bool {
            !secret.contains(name) && (name.isHarmless || harmless.contains(name) && !name.isCredential)
        }

        /// Returns the value of a `Cookie` field without the harmless cookies; nil if no other cookie is left.
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
}
