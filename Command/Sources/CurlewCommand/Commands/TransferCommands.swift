// SPDX-License-Identifier: MIT

import Curlew

/// `curlew download` and `curlew upload`.
struct TransferCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    /// Writes a response to a file: the one of `--output`, or one in the working folder with the name that the server
    /// suggests. A partial file is continued, unless `--restart` is given. Redirects are followed.
    func download() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        guard arguments[.output] != "-" else {
            throw UsageError("A download needs a file.", "To write to the standard output: curlew URL.")
        }
        let options = FileDownload.Options(
            existing: arguments.has(.replace) ? .replace : .fail, resumes: !arguments.has(.restart),
            checksum: try checksum())
        let target = arguments[.output].map { io.path($0) } ?? (io.folder.isEmpty ? "./" : io.folder + "/")
        let run = try CommandClient(arguments, io, for: plan, follows: true)
        let call = plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
        let progress = Self.progress(arguments[.output] ?? "", run.console)
        let before = Self.partialFiles(beside: target)
        let saved = try await run.run {
            do throws(NetworkError) {
                return try await run.client.download(call, to: target, options: options, progress: progress)
            } catch {
                var error = error
                if error.reason == .storage, error.hint?.begins(with: "Choose another path, or allow") == true {
                    error.hint = "Choose another path with --output, or add --replace."
                }
                if error.isCancelled {
                    let after = Self.partialFiles(beside: target)
                    run.console.advise(
                        !after.isEmpty && after != before
                            ? "The partial file stays. The same command continues it."
                            : "No partial file stays: the server does not say which version of the file it sent.")
                }
                throw error
            }
        }
        let resumed = saved.value.resumedByteCount
        let suffix = resumed > 0 ? ", of which \(resumed) were there before" : ""
        try run.console.write("\(saved.value.path.printable): \(saved.value.byteCount) bytes\(suffix)\n")
        return .success
    }

    /// Returns the sizes of the partial files in the folder of a path.
    private static func partialFiles(beside path: String) -> [String: UInt64] {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.ends(with: ".part") }.reduce(into: [:]) { sizes, name in
            sizes[name] = try? FileManager.default.attributesOfItem(atPath: folder + name)[.size] as? UInt64
        }
    }

    private func checksum() throws(UsageError) -> FileDownload.Checksum? {
        guard let text = arguments[.checksum] else { return nil }
        let kind = text.upTo(":")
        let digits = String(text.dropFirst(kind.count + 1))
        let length = ["sha256": 64, "sha512": 128][kind.lowercased()]
        guard digits.utf8.count == length, digits.allSatisfy(\.isHexDigit) else {
            throw UsageError("--checksum is not a digest.", "Write sha256: and 64 or sha512: and 128 digits.")
        }
        return length == 64 ? .sha256(digits) : .sha512(digits)
    }

    /// Sends a file. A server that supports tus receives a resumable upload, which the same command continues; any
    /// other server receives the file as the body.
    func upload() async throws -> ExitCode {
        guard let file = arguments.operands.first, arguments.operands.count > 1 else {
            throw UsageError("The file or the URL is missing.", "Write curlew upload FILE URL.")
        }
        let plan = try await RequestPlan(arguments, operands: Array(arguments.operands.dropFirst()), io: io)
        guard plan.content.mediaType == nil else {
            throw UsageError("An upload has no other body.", "Only header fields and query items may follow the URL.")
        }
        let run = try CommandClient(arguments, io, for: plan)
        let method = plan.method == .get ? HTTPMethod.post : plan.method
        let call = plan.call { Request<Void>(method, url: $1, headers: $3, name: "") }
        let options = Upload.Options(.discovered, storage: .besideSource, allowsPlain: true)
        let progress = Self.progress(file, run.console)
        let (path, limit) = (io.path(file), try arguments.seconds(.maxTime))
        let result = try await run.run {
            try await TimeLimit.run(limit) {
                try await run.client.upload(.file(path), to: call, options: options, progress: progress)
            }
        }
        let console = run.console
        if let url = result.url { console.advise("The file is at \(console.shown(url).printable).") }
        guard let response = result.response else { return .success }
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        let text = MessageText(
            style: console.style, isPretty: console.isPretty, showsSecrets: arguments.has(.showSecrets))
        try console.write(console.isPretty ? Data(text.body(response.value, type).utf8) : response.value)
        return .success
    }

    /// Shows progress on the error stream: a bar on a terminal, the last value elsewhere.
    private static func progress(_ title: String, _ console: Console) -> TransferProgress.Handler? {
        if console.isQuiet { return nil }
        let line = ProgressLine(
            title: title.printable, isUnicode: console.io.isUnicode, style: console.errorStyle)
        return { progress in
            if console.movesCursor {
                let text = line.text(progress, columns: console.io.columns)
                console.io.note("\r" + text + "\u{1B}[K" + (progress.isLast ? "\n" : ""))
            } else if progress.isLast {
                console.note((line.title.isEmpty ? "" : line.title + ": ") + "\(progress)")
            }
        }
    }
}
