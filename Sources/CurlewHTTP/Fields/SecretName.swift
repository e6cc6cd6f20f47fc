// SPDX-License-Identifier: MIT

/// What a name says of its value: the one predicate of what is secret, for header fields, query items, and members.
///
/// A name is secret if it is listed or has an ending of a secret's name. Names are compared by their letters and digits,
/// without regard to case: `X-Api-Key`, `apiKey` and `api_key` all end in `key`.
package enum SecretName {
    /// Endings of names whose values are secret.
    package static let endings: Set<String> = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "key", "session", "sessionid", "signature",
        "credential", "credentials", "jwt", "assertion", "hmac", "authorization", "cookie", "cookies", "pwd",
    ]

    /// Endings that are no secrets although they look like it: what names an operation, an entry, or a public value.
    package static let publicEndings: Set<String> = [
        "idempotencykey", "websocketkey", "cachekey", "surrogatekey", "sortkey", "primarykey", "foreignkey",
        "partitionkey", "routingkey", "groupkey", "publickey", "allowcredentials", "monkey", "donkey", "turkey",
        "whiskey", "hockey",
    ]

    /// Header fields by which services know users, tenants, teams and devices, and that have no such ending. Whoever may
    /// set one is often believed to be that user.
    package static let identities: Set<String> = [
        "dpop", "from", "baggage", "forwardeduser", "forwardedemail", "forwardedpreferredusername", "forwardedgroups",
        "remoteuser", "remoteemail", "remotegroups", "authenticateduser", "authemail", "authuser", "impersonateuser",
        "userid", "useremail", "username", "tenantid", "scopeorgid", "grafanaorgid", "hasurauserid", "stripeaccount",
        "vaultnamespace", "googuserproject", "googauthenticateduseremail", "googauthenticateduserid",
        "msclientprincipal", "msclientprincipalid", "msclientprincipalname", "amznoidcidentity", "amznoidcdata",
        "cfaccessclientid", "cfaccessauthenticateduseremail", "jfrogartapi", "honeycombteam", "sid",
    ]

    /// The name's letters and digits in lower case. Bytes outside ASCII stay.
    package static func plain(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 where !separators.contains(byte) { bytes.append(ASCII.lower(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let separators = Array("-_.[] :".utf8)

    /// Whether a name, made plain, has one of the endings and is no known exception.
    package static func ends(_ plain: String, in endings: Set<String>) -> Bool {
        endings.contains { Self.hasSuffix(plain, $0) } && !publicEndings.contains { Self.hasSuffix(plain, $0) }
    }

    /// By bytes: a combining mark behind a name makes another `Character` of its last letter, not another name.
    private static func hasSuffix(_ text: String, _ ending: String) -> Bool {
        let (text, ending) = (text.utf8, ending.utf8)
        return text.count >= ending.count && text.suffix(ending.count).elementsEqual(ending)
    }

    /// Whether a header field of this name is secret by its ending or as an identity.
    static func covers(field name: String) -> Bool {
        let plain = plain(name)
        if ends(plain, in: endings) || identities.contains(plain) { return true }
        return plain.utf8.first == UInt8(ascii: "x") && identities.contains(String(Substring(plain.utf8.dropFirst())))
    }
}
