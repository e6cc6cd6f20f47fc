// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form in which tokens are kept, whatever the place.
enum KeptTokens {
    static let version = 1

    enum Problem: Error {
        case damaged
        case newer(Int)
        case unreadable(PrivateFile.Failure)
    }

    /// What became of tokens that were to take the place of others.
    enum Replacement: Sendable {
        case replaced
        /// Somebody else has been there; this is what is kept.
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
        // Written by somebody else. Every process that reads them has to see one and the same sign-in.
        if tokens.session == nil { tokens.session = MessageDigest.sha256(Data(tokens.accessToken.utf8)).hexText }
        return tokens
    }

    /// Whether what cannot be read as tokens was some once, and may hold their secrets still.
    static func mayBeTokens(_ data: Data) -> Bool {
        data.indices.contains { data[$0...].starts(with: "oken".utf8) }
    }
}

/// A place that several processes share.
protocol SharedTokens: TokenPersistence {
    /// The right to renew the tokens, which one process has at a time; nil where there is no such thing.
    ///
    /// Throws `DeadlinePassed` and `CancellationError`.
    func lockForRenewal(until deadline: Deadline, on time: any TimeSource) async throws -> FileLock?

    /// Keeps `new`, if what is kept still is `old`; nil forgets it.
    func replace(_ old: Tokens?, with new: Tokens?) async throws(NetworkError) -> KeptTokens.Replacement
}

extension Tokens {
    /// The same tokens of the same sign-in, whatever became of the date on its way through a file.
    func isSame(as other: Tokens?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken && session == other?.session
    }
}
