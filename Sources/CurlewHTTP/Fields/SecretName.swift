// SPDX-License-Identifier: MIT

/// Decides from a name whether the value is a secret: for header fields, query items, form fields, cookies, members of
/// JSON, and names in text.
///
/// A name is read as words: `X-Api-Key`, `apiKeys`, `API_KEY_2` and `api.key.value` are the words `api` and `key`, with
/// words that change nothing. A secret noun decides, in singular or plural, on its own or at the end of a longer word
/// (`accesstoken`). The word before it can make it ordinary (`cacheKey`, `status_code`), and so can a property after it
/// (`token_type`). If the words are unknown, the name is treated as a secret: a needless `REDACTED` costs less.
enum SecretName {
    /// The syntax in which a name occurs. Some short names are secret only in some of them.
    enum Location {
        /// A header field.
        case field
        /// A query item, a form field, or a name before an equals sign in text.
        case pair
        /// A member of JSON, or a name before a colon in text.
        case member
    }

    /// Returns whether the value of `name` is a secret. Only the last 128 bytes of a longer name count.
    static func isSecret(_ name: some BidirectionalCollection<UInt8>, in location: Location) -> Bool {
        let name = name.suffix(128)
        guard mayBeSecret(name) else { return false }
        let words = words(name)
        let plain = words.joined()
        if wholeNames.contains(plain) || location == .field && isIdentity(plain) { return true }
        if location != .member && bareNames.contains(plain) { return true }
        for index in words.indices where isSecret(words, at: index, in: location) { return true }
        return isTerm(words[...])
    }

    /// Returns whether three letters of the name begin a word of the lists. Most names are ordinary, and this is much
    /// faster than to compare words.
    private static func mayBeSecret(_ name: some Collection<UInt8>) -> Bool {
        var letters = 0
        for byte in name where ASCII.isLetter(byte) {
            letters = (letters << 5 | Int(byte & 31)) & 0x7FFF
            if beginnings[letters] { return true }
        }
        return false
    }

    private static let beginnings: [Bool] = {
        var beginnings = [Bool](repeating: false, count: 1 << 15)
        for word in nouns.union(endings).union(phrases).union(wholeNames).union(bareNames).union(identities) {
            beginnings[word.utf8.prefix(3).reduce(0) { $0 << 5 | Int($1 & 31) }] = true
        }
        return beginnings
    }()

    /// Returns whether the words end in one of `phrases`, also if `additions` follow.
    private static func isTerm(_ words: ArraySlice<String>) -> Bool {
        let plain = words.joined()
        if phrases.contains(where: { plain.ends(with: $0) || plain.ends(with: $0 + "s") }) { return true }
        return words.last.map(isAddition) == true && isTerm(words.dropLast())
    }

    private static func isAddition(_ word: String) -> Bool {
        additions.contains(word) || word.utf8.allSatisfy(ASCII.isDigit)
    }

    private static func isSecret(_ words: [String], at index: Int, in location: Location) -> Bool {
        guard let (noun, qualifier, isPlural) = noun(words[index]) else { return false }
        let before = qualifier.isEmpty && index > 0 ? words[index - 1] : qualifier
        if ordinary[noun]?.contains(before) == true { return false }
        let after = words[(index + 1)...]
        if strongNouns.contains(noun) {
            // Models of language count in tokens: `max_tokens`, `totalTokens`, `tokens_used`.
            if isPlural, noun == "token", !quantities.isDisjoint(with: [before] + words) { return false }
            return !after.contains(where: properties.contains)
        }
        guard after.allSatisfy(isAddition) else { return false }
        // `key` is often the key of a table, and `code` the code of an error.
        return !before.isEmpty && before != "x" || !bareNames.contains(noun) || location != .member && !isPlural
    }

    /// Returns the secret noun that the word is or ends in, and the rest of the word.
    private static func noun(_ word: String) -> (noun: String, qualifier: String, isPlural: Bool)? {
        for isPlural in [false, true] {
            guard !isPlural || word.utf8.last == UInt8(ascii: "s") else { break }
            let singular = isPlural ? String(word.dropLast()) : word
            if nouns.contains(singular) { return (singular, "", isPlural) }
            if let noun = endings.first(where: { singular.ends(with: $0) }) {
                return (noun, String(Substring(singular.utf8.dropLast(noun.utf8.count))), isPlural)
            }
        }
        return nil
    }

    private enum Kind { case lower, upper, digit, other }

    /// Returns the words of a name in lower case. A word ends at a change of case, at a digit, and at every byte that
    /// is neither a letter of ASCII nor a digit.
    static func words(_ name: some Sequence<UInt8>) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var last = Kind.other
        func end(_ bytes: some Collection<UInt8>) {
            if !bytes.isEmpty { words.append(String(decoding: bytes, as: UTF8.self)) }
        }
        for byte in name {
            let kind: Kind =
                if ASCII.isUpper(byte) { .upper } else if ASCII.isLetter(byte) { .lower } else {
                    ASCII.isDigit(byte) ? .digit : .other
                }
            if last == .upper, kind == .lower {
                // In `APIKey`, the last upper-case letter begins the word.
                end(word.dropLast())
                word.removeFirst(word.count - 1)
            } else if kind != last {
                end(word)
                word.removeAll(keepingCapacity: true)
            }
            if kind != .other { word.append(ASCII.lower(byte)) }
            last = kind
        }
        end(word)
        return words
    }

    /// Returns whether a field with this name identifies a user, with or without `X-` in front.
    private static func isIdentity(_ plain: String) -> Bool {
        identities.contains(plain)
            || plain.utf8.first == UInt8(ascii: "x") && identities.contains(String(Substring(plain.utf8.dropFirst())))
    }

    /// Returns the name in lower case and without separators: spaces, colons, brackets, and the characters `-_.`.
    static func plain(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 where !separators.contains(byte) { bytes.append(ASCII.lower(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let separators = Array("-_.[] :".utf8)
}

extension SecretName {
    /// Secrets wherever they stand in a name, unless one of the `properties` follows.
    static let strongNouns: Set<String> = [
        "token", "secret", "password", "passwd", "passwort", "pwd", "passphrase", "passcode", "apikey", "credential",
        "cred", "jwt", "csrf", "xsrf", "otp", "totp", "hotp", "cvv", "cvc", "hmac", "signature", "sig", "sessionid",
        "sessid", "dsn", "bearer", "dpop", "assertion", "crumb", "ssn", "mnemonic", "psk", "secrete", "secreto",
        "contrasena",
    ]

    /// Secrets at the end of a name, where only digits and `additions` follow.
    static let weakNouns: Set<String> = [
        "key", "code", "session", "auth", "oauth", "authorization", "authentication", "sign", "pin", "pass", "cookie",
    ]

    static let nouns = strongNouns.union(weakNouns)

    /// The nouns that are also recognized at the end of a longer word.
    static let endings = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "key", "credential", "jwt", "hmac",
        "signature", "session", "sessionid", "sessid", "assertion", "authorization", "auth", "cookie", "code", "otp",
        "pwd", "pass",
    ]

    /// Terms of several words, however the words are separated.
    static let phrases = [
        "password", "passphrase", "passcode", "sessionid", "cardnumber", "connectionstring", "secretid", "accesskeyid",
        "codeverifier", "seedphrase", "recoveryphrase", "securityanswer", "samlresponse", "samlrequest", "dpop",
        "authenticationinfo", "oauthverifier", "samlart", "cardnum",
    ]

    static let wholeNames: Set<String> = ["iplanetdirectorypro", "connectsid", "pan"]

    /// Complete names that have another meaning in JSON.
    static let bareNames: Set<String> = ["code", "key", "sid", "ticket"]

    /// Words before a noun that make it ordinary, or the beginning of an ordinary word that ends like it: `turkey`.
    static let ordinary: [String: Set<String>] = [
        "key": [
            "idempotency", "socket", "websocket", "cache", "surrogate", "sort", "primary", "foreign", "partition",
            "routing", "group", "public", "row", "object", "natural", "composite", "candidate", "unique", "index",
            "lookup", "translation", "message", "locale", "map", "hash", "range", "shard", "metric", "config",
            "setting", "feature", "arrow", "hot", "shortcut", "enter", "modifier", "dedup", "deduplication", "issue",
            "project", "search", "column", "parent", "tag", "event", "item", "entity", "resource", "label", "template",
            "mon", "don", "tur", "whis", "hoc", "joc", "lac",
        ],
        "code": [
            "status", "country", "zip", "postal", "post", "error", "err", "currency", "language", "lang", "locale",
            "region", "state", "province", "area", "dial", "dialing", "calling", "city", "county", "airport", "airline",
            "iata", "icao", "iso", "exit", "return", "response", "result", "reason", "http", "product", "item", "sku",
            "color", "colour", "bar", "uni", "en", "de", "trans", "geo", "byte", "op", "key", "char", "source",
            "machine", "class", "type", "event", "message", "fault", "close", "disconnect", "station", "stop", "route",
            "carrier", "time", "tz", "timezone", "unit", "tax", "hs", "naics", "sic", "mcc", "merchant", "category",
            "department", "branch", "bank", "swift", "course", "subject", "diagnosis", "icd", "weather", "condition",
            "grade", "gender", "nationality", "vat", "batch", "model", "part", "plan", "price", "fee", "transaction",
            "application", "network", "operator", "system", "site", "store", "warehouse", "location", "plus", "morse",
            "hex", "ascii", "scan", "sub", "ret", "stat", "action", "decline", "failure", "cancellation", "rejection",
            "warning", "alert", "severity", "validation", "detail", "grpc", "sql", "native", "signal", "subdivision",
            "vs", "x", "script", "short", "platform", "vendor", "brand",
        ],
        "token": [
            "page", "next", "continuation", "skip", "sync", "starting", "stop", "cancellation", "eos", "bos", "pad",
            "unk", "mask", "sep",
        ],
        "credential": ["allow"], "session": ["ob", "pos", "pre"], "sign": ["call", "plus", "minus", "zodiac"],
        "pass": [
            "boarding", "low", "high", "band", "by", "first", "second", "com", "tres", "sur", "encom", "over", "under",
        ],
    ]

    /// Words beside `tokens` that make it a number.
    static let quantities: Set<String> = [
        "max", "min", "maximum", "minimum", "total", "num", "n", "count", "used", "usage", "remaining", "limit",
        "prompt", "completion", "input", "output", "reasoning", "cached", "prediction", "audio", "image", "text",
        "thinking", "thoughts", "budget", "reset",
    ]

    /// Words after a strong noun that make the name one of a property: `token_type`, `password_changed_at`.
    static let properties: Set<String> = [
        "type", "types", "expires", "expired", "expiry", "expiration", "ttl", "age", "count", "counts", "length", "len",
        "size", "max", "min", "limit", "remaining", "reset", "policy", "url", "uri", "href", "endpoint", "path", "id",
        "ids", "name", "names", "status", "state", "required", "enabled", "disabled", "valid", "invalid", "verified",
        "supported", "allowed", "format", "kind", "scheme", "version", "algorithm", "algorithms", "alg", "method",
        "methods", "level", "strength", "source", "issuer", "audience", "scope", "scopes", "rotation", "manager",
        "provider", "created", "updated", "changed", "modified", "date", "time", "timestamp", "location", "placeholder",
        "label", "description", "title", "details", "usage", "minute", "second", "hour", "day", "index", "position",
        "error", "errors", "rate", "price", "cost", "budget", "supply", "symbol", "balance", "decimals", "metadata",
        "predicted", "evaluated", "used", "per", "lifetime", "validity", "seconds",
    ]

    /// Words after a weak noun that leave it what it is: `pin_text`, `api_key_v2`, `authHeader`.
    static let additions: Set<String> = [
        "value", "text", "str", "string", "raw", "data", "hex", "b", "base", "encoded", "enc", "encrypted", "hash",
        "hashed", "plain", "plaintext", "clear", "new", "old", "current", "confirm", "confirmation", "repeat", "again",
        "verify", "param", "field", "header", "input", "entered", "pem", "der", "jwk", "live", "test", "prod", "dev",
        "sandbox", "production", "staging", "primary", "secondary", "sha", "md", "v", "proof", "key", "code",
        "auxiliary",
    ]

    /// Names of header fields that identify users, tenants, teams or devices, but are not recognized by their words,
    /// and of fields in which services carry tokens. Services often trust these fields as proof of identity.
    static let identities: Set<String> = [
        "from", "baggage", "forwardeduser", "forwardedemail", "forwardedpreferredusername", "forwardedgroups",
        "remoteuser", "remoteemail", "remotegroups", "authenticateduser", "authemail", "authuser", "impersonateuser",
        "userid", "useremail", "username", "tenantid", "scopeorgid", "grafanaorgid", "hasurauserid", "stripeaccount",
        "vaultnamespace", "googuserproject", "googauthenticateduseremail", "googauthenticateduserid",
        "msclientprincipal", "msclientprincipalid", "msclientprincipalname", "amznoidcidentity", "amznoidcdata",
        "cfaccessclientid", "cfaccessauthenticateduseremail", "jfrogartapi", "honeycombteam", "secwebsocketprotocol",
    ]
}
