// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore
import CurlewHTTP

/// The credential of `--auth`, or of a session.
struct Credential: Codable, Sendable {
    enum Kind: String, Codable { case basic, bearer, digest }

    let kind: Kind
    /// The user; empty for a token.
    let user: String
    let secret: String

    private static let fileLimit = 64 << 10

    /// Returns nil without `--auth`.
    init?(_ arguments: ParsedArguments, _ io: CommandIO) throws {
        guard var text = arguments[.auth] else {
            guard !arguments.has(.authType) else { throw UsageError("--auth-type needs --auth.") }
            return nil
        }
        if text.utf8.first == UInt8(ascii: "@") {
            let data = try io.contents(of: String(text.dropFirst()), limit: Self.fileLimit)
            text = String(String(decoding: data, as: UTF8.self).trimmed { $0 <= 0x20 })
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
        case .bearer: .bearer(for: origin) { [secret] in secret }
        }
    }
}
