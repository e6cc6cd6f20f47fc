// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps tokens in a file that only its owner can read (0600). Made by `.file(path)`.
///
/// The file is replaced whole and is on the disk, name and all, when a save returns: a crash leaves the old tokens or the
/// new ones. Nothing is thrown away: a file that is damaged, that a newer version wrote, or that is no token file at all
/// gets another name, `<path>.damaged-<milliseconds>`, when it is in the way. Signing out removes the file.
///
/// The tokens are not encrypted; use `.keychain` where there is one. One process at a time: of two that renew the same
/// tokens, most servers sign one out.
public struct FileTokens: TokenPersistence {
    /// Where the file is, in a folder that exists.
    public let path: String

    /// More is no token file.
    static let limit = 1 << 20

    /// A file at `path`.
    public init(_ path: String) {
        self.path = path
    }

    /// What was saved last; nil if there is no file.
    ///
    /// Throws `.storage`. A damaged file has been put aside then, so the next load finds nothing; one that cannot be read,
    /// or that a newer version wrote, stays where it is.
    public func load() async throws -> Tokens? {
        do throws(KeptTokens.Problem) {
            return try contents()
        } catch .damaged {
            let aside = try setAside()
            throw NetworkError(
                .storage, detail: "\(path) is damaged and was renamed to \(aside).", hint: "Sign in again.")
        } catch {
            throw NetworkError(.storage, detail: "\(path): \(error).", hint: "Sign in again, which replaces it.")
        }
    }

    /// Replaces the file; nil removes it. Throws `.storage`, with the old file in its place.
    public func save(_ tokens: Tokens?) async throws {
        do throws(KeptTokens.Problem) { _ = try contents() } catch { _ = try setAside() }
        do {
            guard let tokens else { return try PrivateFile.remove(path) }
            try PrivateFile.replace(path, with: KeptTokens.encode(tokens), isDurable: true)
        } catch {
            throw NetworkError(
                .storage, detail: "\(error). The tokens are used until the process ends.",
                hint: "Check the folder and its permissions.")
        }
    }

    private func contents() throws(KeptTokens.Problem) -> Tokens? {
        let data: Data
        do {
            data = try PrivateFile.read(path, limit: Self.limit)
        } catch {
            if error.isMissing { return nil }
            throw .unreadable(error.description)
        }
        return try KeptTokens.decode(data)
    }

    private func setAside() throws(NetworkError) -> String {
        let aside = "\(path).damaged-\(Int64(Date().timeIntervalSince1970 * 1000))"
        do {
            try PrivateFile.move(path, to: aside)
            return aside
        } catch {
            throw NetworkError(.storage, detail: "\(error), so nothing is kept.", hint: "Check the folder.")
        }
    }
}

extension FileTokens: CustomStringConvertible {
    /// Where the file is.
    public var description: String { "FileTokens(\(path))" }
}

extension TokenPersistence where Self == FileTokens {
    /// Tokens in a file for its owner only. See `FileTokens`.
    public static func file(_ path: String) -> FileTokens { FileTokens(path) }
}

/// The form in which tokens are kept, whatever the place.
enum KeptTokens {
    static let version = 1

    enum Problem: Error, CustomStringConvertible {
        case damaged
        case newer(Int)
        case unreadable(String)

        var description: String {
            switch self {
            case .damaged: "it does not hold tokens"
            case .newer(let version): "it has version \(version), this package knows \(KeptTokens.version)"
            case .unreadable(let detail): detail
            }
        }
    }

    private struct Document: Codable {
        let version: Int
        let tokens: Tokens
    }

    private struct Header: Decodable {
        let version: Int
    }

    static func encode(_ tokens: Tokens) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(Document(version: version, tokens: tokens))
    }

    static func decode(_ data: Data) throws(Problem) -> Tokens {
        let decoder = JSONDecoder()
        if let header = try? decoder.decode(Header.self, from: data), header.version > version {
            throw .newer(header.version)
        }
        do { return try decoder.decode(Document.self, from: data).tokens } catch { throw .damaged }
    }
}
