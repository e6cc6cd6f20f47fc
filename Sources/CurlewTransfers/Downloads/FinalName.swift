// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Gives a complete file the name that the caller requested.
enum FinalName {
    /// The number of names that are tried to keep a file of the same name.
    private static let maximumNames = 1000

    /// Throws `.storage` if a complete file cannot get the name `target`: it exists and must be kept, or is a folder.
    static func check(_ target: String, _ existing: FileDownload.Existing) throws(NetworkError) {
        var facts = stat()
        guard stat(target, &facts) == 0 else { return }
        if existing == .fail { throw exists(target) }
        guard facts.st_mode & S_IFMT == S_IFDIR else { return }
        throw NetworkError(.storage, detail: "\(target) exists and is not a regular file.", hint: "Pass a file path.")
    }

    /// Renames the file at `path` to `target`, or to a numbered name beside it. Returns the name. Throws `.storage`,
    /// with both names unchanged.
    static func give(
        _ target: String, to path: String, _ existing: FileDownload.Existing
    ) throws(NetworkError) -> String {
        guard existing != .replace else {
            guard rename(path, target) == 0 else { throw PartialFile.failure("written", target) }
            return target
        }
        for number in 0..<(existing == .keepBoth ? Self.maximumNames : 1) {
            let candidate = number == 0 ? target : Self.numbered(target, number)
            // `link` never replaces a file, also one that another process creates now. Some file systems have no links.
            if link(path, candidate) == 0 {
                unlink(path)
                return candidate
            }
            if errno == EEXIST { continue }
            var facts = stat()
            if lstat(candidate, &facts) == 0 { continue }
            guard rename(path, candidate) == 0 else { throw PartialFile.failure("written", candidate) }
            return candidate
        }
        throw Self.exists(target)
    }

    /// Returns `film (2).mp4` for `film.mp4` and 2.
    static func numbered(_ path: String, _ number: Int) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        let name = path.utf8[slash...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return path + " (\(number))"
        }
        return String(path[..<dot]) + " (\(number))" + String(path[dot...])
    }

    static func exists(_ path: String) -> NetworkError {
        NetworkError(
            .storage, detail: "\(path) exists.",
            hint: "Choose another path, or allow it with FileDownload.Options.existing (.replace or .keepBoth).")
    }
}
