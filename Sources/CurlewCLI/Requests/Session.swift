// SPDX-License-Identifier: MIT

import CurlewCookies
import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The cookies and credentials that `--session` keeps, in two files that only their owner can read.
struct Session: Sendable {
    let cookies: CookieStore
    private let credentialPath: String
    private let credentials: [String: Credential]

    private static let limit = 1 << 20

    /// Returns nil without `--session`. A name with a slash is a path, to which the endings of the files are added.
    init?(_ arguments: ParsedArguments, _ io: CommandIO) throws {
        guard let name = arguments[.session] else { return nil }
        let base: String
        if name.utf8.contains(UInt8(ascii: "/")) {
            base = io.path(name)
        } else {
            guard !name.isEmpty, name != ".", name != ".." else {
                throw UsageError("--session needs a name or a path.")
            }
            base = try Self.folder(io) + "/" + name
        }
        let cookiePath = base + ".cookies.json"
        cookies = CookieStore(file: cookiePath, keepsSessionCookies: true)
        credentialPath = base + ".credentials.json"
        do throws(PrivateFile.Failure) {
            let data = try PrivateFile.read(credentialPath, limit: Self.limit, trusting: .ownerAlone)
            credentials = try Self.read(data, credentialPath)
        } catch {
            guard error.isMissing else {
                throw NetworkError(.storage, detail: "\(error).", hint: error.hint ?? "Check the file.")
            }
            credentials = [:]
        }
    }

    private static func read(_ data: Data, _ path: String) throws(PrivateFile.Failure) -> [String: Credential] {
        do { return try JSONDecoder().decode([String: Credential].self, from: data) } catch {
            throw PrivateFile.Failure("read as credentials", path, EINVAL)
        }
    }

    /// Creates and returns the folder of named sessions.
    private static func folder(_ io: CommandIO) throws -> String {
        let home = io.environment["HOME"].map { $0 + "/.config" }
        let set = io.environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        guard let config = set ?? home else {
            throw UsageError("Sessions have no folder: HOME is not set.", "Give --session a path: ./name.")
        }
        var path = config
        for name in ["", "/curlew", "/sessions"] {
            path += name
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw NetworkError(
                    .storage, detail: PrivateFile.Failure("created", path).description, hint: "Check the folder.")
            }
        }
        return path
    }

    /// The credentials with the origins that receive them.
    var kept: [(Origin, Credential)] {
        credentials.compactMap { url, credential in
            (try? HTTPRequest(url: url).origin).map { ($0, credential) }
        }
    }

    /// Keeps the credential for the origins.
    func save(_ credential: Credential, for origins: [Origin]) throws {
        var all = credentials
        for origin in origins { all["\(origin)"] = credential }
        let data = try JSONEncoder().encode(all)
        do throws(PrivateFile.Failure) {
            try PrivateFile.replace(credentialPath, with: data)
        } catch {
            throw NetworkError(.storage, detail: "\(error).", hint: error.hint ?? "Check the folder.")
        }
    }

    /// Writes the cookies.
    func save() throws(NetworkError) {
        if let problem = cookies.problem { throw problem }
        try cookies.save()
    }
}
