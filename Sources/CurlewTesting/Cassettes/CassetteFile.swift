// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

struct CassetteFile {
    let path: String
    let options: Cassette.Options

    /// The files that cassettes of this process replace.
    private static let renewed = Locked<Set<String>>([])

    /// Reads the entries for a mode. A file that is to be replaced may be missing or damaged. Throws `.refused(by:
    /// .cassette)` if another cassette of this process already replaces the file.
    func load(mode: Cassette.Mode) throws(NetworkError) -> [HARDocument.Entry] {
        switch mode {
        case .replay: return try read(isRequired: true)
        case .recordNew: return try read(isRequired: false)
        case .recordAll:
            guard Self.renewed.withLock({ $0.insert(identity).inserted }) else { throw otherRecorder }
            return (try? read(isRequired: false)) ?? []
        }
    }

    /// The digest of the file's content, with which a cassette detects another recorder; nil without a file.
    func digest() -> Data? {
        (try? PrivateFile.read(path, limit: options.maximumFileBytes)).map { MessageDigest.sha256($0) }
    }

    private func read(isRequired: Bool) throws(NetworkError) -> [HARDocument.Entry] {
        let data: Data
        do {
            data = try PrivateFile.read(path, limit: options.maximumFileBytes)
        } catch {
            if error.isMissing, !isRequired { return [] }
            throw NetworkError(
                .storage, detail: "The cassette \(error.description).",
                hint: error.isMissing
                    ? "Record it: run the test once with \(Cassette.Mode.variable)=new."
                    : error.hint ?? "See Cassette.Options.maximumFileBytes for the limit.", underlying: error)
        }
        do {
            return try HARDocument(data).entries
        } catch {
            var error = error
            error.detail = "The cassette \(path) cannot be read. " + error.detail
            throw error
        }
    }

    /// Replaces the file, and returns its digest. Throws if the file is not the one with the digest `known`.
    func save(_ entries: [HARDocument.Entry], replacing known: Data?) throws(NetworkError) -> Data {
        do {
            guard let lock = try FileLock.attempt(path + ".lock") else { throw otherRecorder }
            defer { lock.release() }
            guard digest() == known else { throw otherRecorder }
            let data = try HARDocument(entries: sorted(entries)).data(pretty: true) + Data("\n".utf8)
            guard data.count <= options.maximumFileBytes else {
                throw NetworkError(
                    .limitExceeded(.responseBody),
                    detail: "The cassette \(path) would have \(data.count) bytes, more than a cassette may read.",
                    hint: "Raise Cassette.Options.maximumFileBytes, or divide the file.")
            }
            try PrivateFile.replace(path, with: data)
            return MessageDigest.sha256(data)
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.storage, detail: "The cassette \(error).", underlying: error)
        }
    }

    private var otherRecorder: NetworkError {
        NetworkError(
            .refused(by: .cassette), detail: "Another cassette, of this process or another one, records \(path).",
            hint: "Let the tests that record share one cassette, or give each its own file.")
    }

    /// Items whose order may vary do not affect the sorting, so the recordings of a request stay in order.
    private func sorted(_ entries: [HARDocument.Entry]) -> [HARDocument.Entry] {
        entries.enumerated()
            .map { (index: $0, key: CassetteRequest($1.request, options.matching, options.redaction).key, entry: $1) }
            .sorted { one, other in
                let (mine, theirs) = (one.key, other.key)
                return (mine.origin, mine.path, mine.method, mine.query.joined(separator: "&"), one.index)
                    < (theirs.origin, theirs.path, theirs.method, theirs.query.joined(separator: "&"), other.index)
            }
            .map(\.entry)
    }

    /// Returns the entries, with the entry of the previous file for each one that differs from it in times only, so
    /// that an unchanged exchange changes no line.
    static func kept(_ entries: [HARDocument.Entry], _ previous: [HARDocument.Entry]) -> [HARDocument.Entry] {
        let known = Dictionary(grouping: previous) { $0.request.method + " " + $0.request.url }
        return entries.map { entry in
            let content = timeless(entry)
            return known[entry.request.method + " " + entry.request.url]?.first { timeless($0) == content } ?? entry
        }
    }

    private static func timeless(_ entry: HARDocument.Entry) -> HARDocument.Entry {
        var entry = entry
        entry.startedDateTime = Date(timeIntervalSince1970: 0)
        entry.time = 0
        entry.timings = HARDocument.Timings()
        entry.response.headers.removeAll { HTTPField.Name($0.name) == .date }
        entry.response.interim = entry.response.interim?.map { interim in
            var interim = interim
            interim.time = 0
            return interim
        }
        return entry
    }

    /// The path without symbolic links, so that two spellings of it are one file.
    private var identity: String {
        // The file itself may not exist yet, but its folder does.
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().resolvingSymlinksInPath().standardizedFileURL
            .appendingPathComponent(url.lastPathComponent).path
    }
}

extension Cassette {
    /// Saves the file with the entries that were recorded since the last call. Does nothing if there are none.
    ///
    /// The entries are sorted by URL and method; the recordings of one request keep their order. In the mode
    /// ``Mode/recordAll``, an exchange that differs from the previous file in times only keeps its previous entry.
    /// Repeated recordings of the same tests therefore change few lines.
    ///
    /// One cassette at a time records a file. Throws `NetworkError`: `.refused(by: .cassette)` if another cassette, of
    /// this process or another one, writes the file now, or has written it since this cassette read or saved it;
    /// `.storage` if the file cannot be written; `.limitExceeded(.responseBody)` if it would have more than
    /// ``Options/maximumFileBytes``. The previous file then stays as it is.
    public func save() async throws(NetworkError) {
        let file = CassetteFile(path: path, options: options)
        try state.withLock { state throws(NetworkError) in
            guard state.hasUnsaved else { return }
            let recorded = state.recorded.compactMap(\.self)
            let isAnew = mode == .recordAll
            let entries = isAnew ? CassetteFile.kept(recorded, state.previous) : state.previous + recorded
            state.digest = try file.save(entries, replacing: state.digest)
            state.hasUnsaved = false
        }
    }
}
