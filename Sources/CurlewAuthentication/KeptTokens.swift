// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored form of tokens, in a file and in the keychain.
enum KeptTokens {
    static let version = 1

    enum Problem: Error {
        case damaged
        case newer(Int)
        case unreadable(PrivateFile.Failure)
    }

    /// The outcome of replacing tokens.
    enum Replacement: Sendable {
        case replaced
        /// Another process has replaced the tokens; these are the stored ones.
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
        // Another program wrote the tokens. Every process that reads them must derive the same sign-in.
        if tokens.session == nil { tokens.session = MessageDigest.sha256(Data(tokens.accessToken.utf8)).hexText }
        return tokens
    }

    /// Returns whether data that cannot be decoded was a token file once, and may still contain secrets.
    static func mayBeTokens(_ data: Data) -> Bool {
        data.indices.contains { data[$0...].starts(with: "oken".utf8) }
    }
}

/// A token storage that several processes share.
protocol SharedTokens: TokenPersistence {
    /// Acquires the lock to refresh the tokens, which one process can hold at a time; nil if locks are not available.
    ///
    /// Throws `DeadlinePassed` and `CancellationError`.
    func lockForRenewal(until deadline: Deadline, on time: any TimeSource) async throws -> FileLock?

    /// Stores `new` if the stored tokens are still `old`; nil removes them.
    func replace(_ old: Tokens?, with new: Tokens?) async throws(NetworkError) -> KeptTokens.Replacement
}

extension Tokens {
    /// Returns whether both are the same tokens of the same sign-in. Dates are not compared, as encoding may change
    /// them.
    func isSame(as other: Tokens?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken && session == other?.session
    }
}
