// SPDX-License-Identifier: MIT

/// The words by which `SecretName` decides.
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

    /// Names of header fields that identify users, tenants, teams or devices, but are not recognized by their words, and
    /// of fields in which services carry tokens. Services often trust these fields as proof of identity.
    static let identities: Set<String> = [
        "from", "baggage", "forwardeduser", "forwardedemail", "forwardedpreferredusername", "forwardedgroups",
        "remoteuser", "remoteemail", "remotegroups", "authenticateduser", "authemail", "authuser", "impersonateuser",
        "userid", "useremail", "username", "tenantid", "scopeorgid", "grafanaorgid", "hasurauserid", "stripeaccount",
        "vaultnamespace", "googuserproject", "googauthenticateduseremail", "googauthenticateduserid",
        "msclientprincipal", "msclientprincipalid", "msclientprincipalname", "amznoidcidentity", "amznoidcdata",
        "cfaccessclientid", "cfaccessauthenticateduseremail", "jfrogartapi", "honeycombteam", "secwebsocketprotocol",
    ]
}
