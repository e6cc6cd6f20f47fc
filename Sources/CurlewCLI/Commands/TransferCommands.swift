// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `curlew download` and `curlew upload`.
struct TransferCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    /// Writes a response to a file: the one of `--output`, or one in the working folder with the name that the server
    /// suggests. A partial file is continued, unless `--restart` is given. Redirects are followed.
    func download() async throws -> ExitCode {
        let plan = try await RequestPlan(arguments, io: io)
        let console = Console(arguments, io)
        let insight = Insight(arguments, console)
        let log = ExchangeLog()
        let observers: [any RequestObserver] = insight.observers + (arguments.has(.timing) ? [log] : [])
        let (client, session) = try ClientBuilder(arguments: arguments, io: io, follows: true)
            .client(for: plan, observers: observers, adding: insight.interceptors)
        var options = FileDownload.Options(
            existing: arguments.has(.replace) ? .replace : .fail, resumes: !arguments.has(.restart))
        options.checksum = try checksum()
        guard arguments[.output] != "-" else {
            throw UsageError("A download needs a file.", "To write to the standard output: curlew URL.")
        }
        let target = arguments[.output].map { io.path($0) } ?? (io.folder.isEmpty ? "./" : io.folder + "/")
        let call = plan.call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
        let partial = PartialFiles(target)
        let progress = ProgressNotes(arguments[.output] ?? "", console)
        defer { finish(log, console) }
        let saved: Response<FileDownload.File>
        do throws(NetworkError) {
            saved = try await client.download(call, to: target, options: options, progress: progress.handler)
        } catch {
            insight.finishAfterFailure(io)
            var error = error
            if error.reason == .storage, error.hint?.begins(with: "Choose another path, or allow") == true {
                error.hint = "Choose another path with --output, or add --replace."
            }
            if error.isCancelled {
                console.advise(
                    partial.hasChanged
                        ? "The partial file stays. The same command continues it."
                        : "No partial file stays: the server does not say which version of the file it sent.")
            }
            throw error
        }
        try insight.finish(io)
        try session?.save()
        let resumed = saved.value.resumedByteCount
        let suffix = resumed > 0 ? ", of which \(resumed) were there before" : ""
        try console.write("\(saved.value.path.printable): \(saved.value.byteCount) bytes\(suffix)\n")
        return .success
    }

    private func checksum() throws(UsageError) -> FileDownload.Checksum? {
        guard let text = arguments[.checksum] else { return nil }
        let parts = text.parts(":", most: 2)
        let lengths = ["sha256": 64, "sha512": 128]
        guard parts.count == 2, let length = lengths[parts[0].lowercased()], parts[1].utf8.count == length,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) })
        else {
            throw UsageError("--checksum is not a digest.", "Write sha256: and 64 or sha512: and 128 digits.")
        }
        return length == 64 ? .sha256(String(parts[1])) : .sha512(String(parts[1]))
    }

    /// Sends a file. A server that supports tus receives a resumable upload, which the same command
    /// continues; any other server receives the file as the body.
    func upload() async throws -> ExitCode {
        guard let file = arguments.operands.first, arguments.operands.count > 1 else {
            throw UsageError("The file or the URL is missing.", "Write curlew upload FILE URL.")
        }
        let plan = try await RequestPlan(arguments, operands: Array(arguments.operands.dropFirst()), io: io)
        guard plan.content.mediaType == nil else {
            throw UsageError("An upload has no other body.", "Only header fields and query items may follow the URL.")
        }
        let console = Console(arguments, io)
        let insight = Insight(arguments, console)
        let log = ExchangeLog()
        let observers: [any RequestObserver] = insight.observers + (arguments.has(.timing) ? [log] : [])
        let (client, session) = try ClientBuilder(arguments: arguments, io: io)
            .client(for: plan, observers: observers, adding: insight.interceptors)
        let method = plan.method == .get ? HTTPMethod.post : plan.method
        let call = plan.call { Request<Void>(method, url: $1, headers: $3, name: "") }
        let options = Upload.Options(.discovered, storage: .besideSource, allowsPlain: true)
        let progress = ProgressNotes(file, console)
        defer { finish(log, console) }
        let result: Upload.Result
        let path = io.path(file)
        do {
            result = try await TimeLimit.run(try arguments.seconds(.maxTime)) {
                try await client.upload(.file(path), to: call, options: options, progress: progress.handler)
            }
        } catch {
            insight.finishAfterFailure(io)
            throw error
        }
        try insight.finish(io)
        try session?.save()
        if let url = result.url { console.advise("The file is at \(console.shown(url).printable).") }
        let text = MessageText(
            style: console.style, isPretty: console.isPretty, showsSecrets: arguments.has(.showSecrets))
        if let response = result.response {
            let type = response.headers[.contentType].flatMap { MediaType($0) }
            if console.isPretty {
                try console.write(text.body(response.value, type))
            } else {
                try console.write(response.value)
            }
        }
        return .success
    }

    private func finish(_ log: ExchangeLog, _ console: Console) {
        guard arguments.has(.timing) else { return }
        let timing = TimingText(style: console.errorStyle, columns: io.columns, environment: io.environment)
        io.note(timing.text(log.all))
    }
}

/// The partial files of a download, to know whether one stays.
private struct PartialFiles {
    private let folder: String
    /// The name of the partial file; nil if the server chooses the name.
    private let name: String?
    private let before: [String: Int64]

    /// - `target`: the path of the file, or a folder with a slash at the end.
    init(_ target: String) {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) }
        folder = slash.map { String(target[..<$0]) } ?? "."
        let last = String(target[(slash ?? target.startIndex)...])
        name = last.isEmpty ? nil : last + ".part"
        before = Self.files(in: folder)
    }

    /// Whether there is a partial file that is new or has another size.
    var hasChanged: Bool {
        Self.files(in: folder).contains { file, size in
            name.map { $0 == file } ?? (before[file] != size)
        }
    }

    private static func files(in folder: String) -> [String: Int64] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(into: [:]) { sizes, name in
            guard name.ends(with: ".part") else { return }
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            sizes[name] = (attributes?[.size] as? UInt64).map { Int64(clamping: $0) } ?? 0
        }
    }
}

/// Shows progress on the error stream: a bar on a terminal, the last value elsewhere.
struct ProgressNotes {
    let handler: TransferProgress.Handler?

    init(_ title: String, _ console: Console) {
        guard !console.isQuiet else {
            handler = nil
            return
        }
        var environment = console.io.environment
        if !console.errorStyle.isColored { environment["NO_COLOR"] = "1" }
        let line = ProgressLine(title: title, environment: environment)
        handler = { progress in
            if console.movesCursor {
                let text = line.text(progress, columns: console.io.columns)
                console.io.note("\r" + text + "\u{1B}[K" + (progress.isLast ? "\n" : ""))
            } else if progress.isLast {
                console.note(line.plain(progress))
            }
        }
    }
}
