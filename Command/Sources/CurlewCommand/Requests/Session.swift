// SPDX-License-Identifier: MIT

import Curlew

/// The cookies that `--session` keeps, in a file that only its owner can read.
struct Session: Sendable {
    let cookies: CookieStore

    /// Returns nil without `--session`. A name with a slash is a path, to which the ending of the file is added.
    init?(_ arguments: ParsedArguments, _ io: CommandIO) throws {
        guard let name = arguments[.session] else { return nil }
        let base: String
        if name.holds("/") {
            base = io.path(name)
        } else {
            guard !name.isEmpty, name != ".", name != ".." else {
                throw UsageError("--session needs a name or a path.")
            }
            base = try Self.folder(io) + "/" + name
        }
        cookies = CookieStore(file: base + ".cookies.json", keepsSessionCookies: true)
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
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw PrivateFile.failure("created", path) }
        }
        return path
    }

    /// Writes the cookies.
    func save() throws(NetworkError) {
        if let problem = cookies.problem { throw problem }
        try cookies.save()
    }
}
