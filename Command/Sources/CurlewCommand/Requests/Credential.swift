// SPDX-License-Identifier: MIT

import Curlew

/// The credential of `--auth`.
struct Credential: Sendable {
    enum Kind: String { case basic, bearer, digest }

    let kind: Kind
    /// The user; empty for a token.
    let user: String
    let secret: String

    /// Returns the argument of `--auth` for a text that is meant literally.
    static func literal(_ text: String) -> String {
        text.utf8.first == UInt8(ascii: "@") || text.utf8.starts(with: "\\@".utf8) ? "\\" + text : text
    }

    /// Returns nil without `--auth`.
    init?(_ arguments: ParsedArguments, _ io: CommandIO) throws {
        guard var text = arguments[.auth] else {
            guard !arguments.has(.authType) else { throw UsageError("--auth-type needs --auth.") }
            return nil
        }
        if text.utf8.first == UInt8(ascii: "@") {
            let data = try io.contents(of: String(text.dropFirst()), limit: 64 << 10)
            text = String(String(decoding: data, as: UTF8.self).trimmed())
        } else if text.utf8.starts(with: "\\@".utf8) {
            // The escape of a user or a token that begins with @.
            text.unicodeScalars.removeFirst()
        }
        kind = arguments[.authType].flatMap { Kind(rawValue: $0) } ?? .basic
        guard kind != .bearer else {
            (user, secret) = ("", text)
            return
        }
        guard let colon = text.first(":") else {
            throw UsageError("--auth needs USER:PASSWORD.", "For a token, add --auth-type=bearer.")
        }
        user = String(text[..<colon])
        secret = String(text[colon...].dropFirst())
    }

    func interceptor(for origin: Origin) -> BuiltInInterceptor {
        switch kind {
        case .basic: .basic(user: user, password: secret, for: "\(origin)")
        case .digest: .digest(user: user, password: secret, for: "\(origin)", minimum: .md5)
        case .bearer: .bearer(for: "\(origin)") { [secret] in secret }
        }
    }
}
