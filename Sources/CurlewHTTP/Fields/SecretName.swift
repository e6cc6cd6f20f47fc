// SPDX-License-Identifier: MIT

/// Decides from a name whether the value is a secret: for header fields, query items, and members of JSON and XML.
///
/// A name is secret if it is listed or has a listed ending. Case and separators are ignored: `X-Api-Key`, `apiKey` and
/// `api_key` all end in `key`.
package enum SecretName {
    /// The endings of names whose values are secrets.
    package static let endings: Set<String> = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "key", "session", "sessionid", "signature",
        "credential", "credentials", "jwt", "assertion", "hmac", "authorization", "cookie", "cookies", "pwd",
    ]

    /// Exceptions to `endings`: names of identifiers and public values, such as `idempotency-key`, and words that
    /// happen to have such an ending, such as `monkey`.
    package static let publicEndings: Set<String> = [
        "idempotencykey", "websocketkey", "cachekey", "surrogatekey", "sortkey", "primarykey", "foreignkey",
        "partitionkey", "routingkey", "groupkey", "publickey", "allowcredentials", "monkey", "donkey", "turkey",
        "whiskey", "hockey",
    ]

    /// Names of header fields that identify users, tenants, teams or devices, but have none of the `endings`. Services
    /// often trust these fields as proof of identity.
    package static let identities: Set<String> = [
        "dpop", "from", "baggage", "forwardeduser", "forwardedemail", "forwardedpreferredusername", "forwardedgroups",
        "remoteuser", "remoteemail", "remotegroups", "authenticateduser", "authemail", "authuser", "impersonateuser",
        "userid", "useremail", "username", "tenantid", "scopeorgid", "grafanaorgid", "hasurauserid", "stripeaccount",
        "vaultnamespace", "googuserproject", "googauthenticateduseremail", "googauthenticateduserid",
        "msclientprincipal", "msclientprincipalid", "msclientprincipalname", "amznoidcidentity", "amznoidcdata",
        "cfaccessclientid", "cfaccessauthenticateduseremail", "jfrogartapi", "honeycombteam", "sid",
    ]

    /// Returns the name in lower case and without separators: spaces, colons, brackets, and the characters `-_.`.
    package static func plain(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 where !separators.contains(byte) { bytes.append(ASCII.lower(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let separators = Array("-_.[] :".utf8)

    /// Returns whether a name, as `plain(_:)` returns it, has one of the endings and is not an exception.
    package static func ends(_ plain: String, in endings: Set<String>) -> Bool {
        endings.contains { plain.ends(with: $0) } && !publicEndings.contains { plain.ends(with: $0) }
    }

    /// Returns whether a header field with this name is secret, because of its ending or because it identifies a user.
    static func covers(field name: String) -> Bool {
        let plain = plain(name)
        if ends(plain, in: endings) || identities.contains(plain) { return true }
        return plain.utf8.first == UInt8(ascii: "x") && identities.contains(String(Substring(plain.utf8.dropFirst())))
    }
}
