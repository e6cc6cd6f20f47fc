// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The format of stored tokens, in a file or in the keychain: JSON with a version number.
enum StoredTokens {
    static let version = 1

    enum Problem: Error {
        case damaged
        case newer(Int)
        case unreadable(PrivateFile.Failure)
    }

    /// The result of `SharedTokens.replace(_:with:)`.
    enum Replacement: Sendable {
        case replaced
        /// The tokens were not replaced, because another process has changed them. Contains the stored tokens; nil if
        /// there are none.
        case other(Tokens?)
    }

    private struct Document: Codable {
        let version: Int
        let tokens: Tokens
    }

    private struct Header: Decodable {
        let version: Int
    }

    static func encode(_ tokens: Tokens) throws(NetworkError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            return try encoder.encode(Document(version: version, tokens: tokens))
        } catch {
            throw NetworkError(error)
        }
    }

    static func decode(_ data: Data) throws(Problem) -> Tokens {
        let decoder = JSONDecoder()
        if let header = try? decoder.decode(Header.self, from: data), header.version > version {
            throw .newer(header.version)
        }
        guard var tokens = try? decoder.decode(Document.self, from: data).tokens else { throw .damaged }
        // A program other than Curlew wrote the tokens, without a session. Every process that reads them must derive
        // the same session.
        if tokens.session == nil { tokens.session = MessageDigest.sha256(Data(tokens.accessToken.utf8)).hexText }
        return tokens
    }

    /// Returns whether `data` may be a damaged token file that still contains secrets. Call it for data that cannot be
    /// decoded.
    static func mayBeTokens(_ data: Data) -> Bool {
        data.indices.contains { data[$0...].starts(with: "oken".utf8) }
    }
}

/// A token storage that several processes share.
protocol SharedTokens: TokenStore.Persistence {
    /// Waits until the refresh lock is free, and acquires it. One process can hold it at a time. Returns nil if locks
    /// are not available.
    ///
    /// Throws `DeadlinePassed` and `CancellationError`.
    func lockForRenewal(until deadline: SystemTime.Deadline, on time: any TimeSource) async throws -> FileLock?

    /// Replaces the stored tokens with `new` if the stored tokens are still `old`. If `new` is nil, the stored tokens
    /// are removed.
    func replace(_ old: Tokens?, with new: Tokens?) async throws(NetworkError) -> StoredTokens.Replacement
}

extension Tokens {
    /// Returns whether both values have the same tokens and belong to the same sign-in. The expiry is not compared,
    /// because encoding may change it.
    func isSame(as other: Tokens?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken && session == other?.session
    }
}
