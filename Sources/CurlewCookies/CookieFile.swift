// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The file of a `CookieStore`: JSON that is validated when it is read, and replaced atomically when it is written. The
/// file is accepted only if it is a regular file of this user that no other user can read or change. Cookies from
/// another user could sign this user in to that user's account.
struct CookieFile: Sendable {
    let path: String
    let keepsSessionCookies: Bool

    static let version = 1
    static let limit = 16 << 20

    /// The cookies in the file, and the error for `CookieStore.problem` if reading the file caused one.
    struct Content {
        var cookies: [Cookie] = []
        var problem: NetworkError?
    }

    private struct Document: Codable {
        let version: Int
        let cookies: [Cookie]
    }

    private struct Header: Decodable {
        let version: Int
    }

    /// Reads the file; a missing file is empty. A damaged file is renamed. Throws if the file is not trustworthy,
    /// cannot be read, has a newer version, or is damaged and cannot be renamed. In these cases, the file must not be
    /// replaced.
    func read(at now: Date) throws(NetworkError) -> Content {
        let data: Data
        do {
            data = try PrivateFile.read(path, limit: Self.limit, trusting: .ownerAlone)
        } catch {
            if error.isMissing { return Content() }
            throw NetworkError(
                .storage, detail: "\(error). Its cookies are ignored and nothing is saved.",
                hint: error.hint ?? "Check the file and its permissions.")
        }
        let decoder = JSONDecoder()
        if let header = try? decoder.decode(Header.self, from: data), header.version > Self.version {
            throw NetworkError(
                .storage, detail: "\(path) has version \(header.version); this package supports \(Self.version).",
                hint: "Another version of the package wrote it. Use a separate file for this version.")
        }
        do {
            return Content(cookies: try decoder.decode(Document.self, from: data).cookies)
        } catch {
            let aside = "\(path).damaged-\(Int64(now.timeIntervalSince1970))"
            do {
                try PrivateFile.move(path, to: aside)
            } catch {
                throw NetworkError(.storage, detail: "\(path) is damaged. \(error), so nothing is saved.")
            }
            return Content(
                problem: NetworkError(
                    .storage, detail: "\(path) is damaged and was renamed to \(aside). The store starts empty.",
                    hint: "If the cookies matter, repair that file; otherwise remove it."))
        }
    }

    /// Writes the file. Returns the error if that fails; nil otherwise.
    func write(_ cookies: [Cookie]) -> NetworkError? {
        let kept = cookies.filter { keepsSessionCookies || $0.expires != nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            try PrivateFile.replace(path, with: try encoder.encode(Document(version: Self.version, cookies: kept)))
            return nil
        } catch {
            return NetworkError(
                .storage, detail: "\(error). The cookies are in memory only.",
                hint: "The store tries again after the next change, and on save().")
        }
    }
}
