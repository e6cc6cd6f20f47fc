// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// The file of a cassette.
struct CassetteFile {
    let path: String
    let options: Cassette.Options

    /// The paths that this process has started anew.
    private static let rewritten = Locked<Set<String>>([])

    /// Reads the entries for a mode. A file that is to be replaced may be missing or damaged.
    func load(mode: Cassette.Mode) throws(NetworkError) -> [HARDocument.Entry] {
        switch mode {
        case .replay: return try read(isRequired: true)
        case .recordNew: return try read(isRequired: false)
        case .recordAll: return (try? read(isRequired: false)) ?? []
        }
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
        let document: HARDocument
        do {
            document = try HARDocument(data)
        } catch {
            var error = error
            error.detail = "The cassette \(path) cannot be read. " + error.detail
            throw error
        }
        guard document.entries.count <= options.maximumEntries else {
            throw NetworkError(
                .limitExceeded(.responseBody),
                detail: "The cassette \(path) has \(document.entries.count) entries, over \(options.maximumEntries).",
                hint: "Raise Cassette.Options.maximumEntries, or divide the file.")
        }
        return document.entries
    }

    /// Merges the recorded entries with those of the file, and replaces it.
    func save(
        _ recorded: [HARDocument.Entry], mode: Cassette.Mode, previous: [HARDocument.Entry]
    ) async throws(NetworkError) {
        let lock = try await lock()
        defer { lock.release() }
        let isFirst = mode == .recordAll && Self.rewritten.withLock { $0.insert(Self.identity(of: path)).inserted }
        do {
            let old = isFirst ? [] : try read(isRequired: false)
            let new = isFirst ? Self.kept(recorded, previous) : recorded
            let entries = merged(old, new, loaded: mode == .recordNew ? previous : [])
            let data = try HARDocument(entries: entries).data(pretty: true) + Data("\n".utf8)
            guard entries.count <= options.maximumEntries, data.count <= options.maximumFileBytes else {
                throw NetworkError(
                    .limitExceeded(.responseBody),
                    detail:
                        "The cassette \(path) would have \(entries.count) entries and \(data.count) bytes, more than "
                        + "a cassette may read.",
                    hint: "Raise Cassette.Options.maximumEntries or maximumFileBytes, or divide the file.")
            }
            try PrivateFile.replace(path, with: data)
        } catch {
            if isFirst { Self.rewritten.withLock { _ = $0.remove(Self.identity(of: path)) } }
            if let error = error as? NetworkError { throw error }
            throw NetworkError(.storage, detail: "The cassette \(error).", underlying: error)
        }
    }

    private func lock() async throws(NetworkError) -> FileLock {
        do {
            let time = SystemTime()
            return try await FileLock.wait(
                for: path + ".lock", until: Deadline(.seconds(30), after: time.now), on: time)
        } catch {
            throw NetworkError(
                .storage, detail: "The cassette \(path) cannot be saved: its lock is not free (\(error)).",
                hint: "Is another process that records it stuck?", underlying: error)
        }
    }

    /// Returns the entries of the file and the recorded ones. What another writer has recorded of a request since this
    /// cassette was loaded counts, so that the same recordings are not stored twice.
    private func merged(
        _ old: [HARDocument.Entry], _ new: [HARDocument.Entry], loaded: [HARDocument.Entry]
    ) -> [HARDocument.Entry] {
        func key(_ entry: HARDocument.Entry) -> CassetteRequest.Key {
            CassetteRequest(entry.request, options.matching, options.redaction).key
        }
        var others: [CassetteRequest.Key: Int] = [:]
        for entry in old { others[key(entry), default: 0] += 1 }
        for entry in loaded { others[key(entry), default: 0] -= 1 }
        let added = new.filter { entry in
            let key = key(entry)
            guard let count = others[key], count > 0 else { return true }
            others[key] = count - 1
            return false
        }
        // Items that may have another order do not decide about the place, so the recordings of a request stay in order.
        return (old + added).enumerated()
            .map { (place: $0, key: key($1), entry: $1) }
            .sorted { one, other in
                let (mine, theirs) = (one.key, other.key)
                return (mine.origin, mine.path, mine.method, mine.query.joined(separator: "&"), one.place)
                    < (theirs.origin, theirs.path, theirs.method, theirs.query.joined(separator: "&"), other.place)
            }
            .map(\.entry)
    }

    /// Returns the entries, with the entry of the previous file for each one that differs from it in times only, so that
    /// an unchanged exchange changes no line.
    private static func kept(
        _ entries: [HARDocument.Entry], _ previous: [HARDocument.Entry]
    ) -> [HARDocument.Entry] {
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
    private static func identity(of path: String) -> String {
        // The file itself may not exist yet, but its folder does.
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().resolvingSymlinksInPath().standardizedFileURL
            .appendingPathComponent(url.lastPathComponent).path
    }
}

extension Cassette {
    /// Writes what was recorded since the last call. Does nothing if nothing was.
    ///
    /// The entries are sorted by URL and method; the recordings of one request keep their order. In the mode
    /// ``Mode/recordAll``, an exchange that differs from the previous file in times only keeps its previous entry.
    /// Repeated recordings of the same tests therefore change few lines.
    ///
    /// Several cassettes may record one file, in one process or in several. Each takes a lock while it writes
    /// (`<path>.lock`), and adds its entries to those of the file:
    ///
    /// - Recordings of the same request by two writers are stored once.
    /// - In the mode ``Mode/recordAll``, the first writer of a process replaces the file, and the later ones of that
    ///   process add to it. Of two processes, the last one to start writing replaces what the other has written.
    ///
    /// Throws `NetworkError`: `.storage` if the file cannot be written, or if another writer holds the lock for 30 seconds,
    /// and `.limitExceeded(.responseBody)` if the file would exceed the limits of the options, so that no cassette could
    /// read it. The previous file then stays as it is.
    public func save() async throws(NetworkError) {
        let work = state.withLock { state -> [HARDocument.Entry]? in
            guard state.hasUnsaved else { return nil }
            state.hasUnsaved = false
            return state.recorded.compactMap(\.self)
        }
        guard let work else { return }
        let previous = state.withLock { $0.previous }
        do {
            try await CassetteFile(path: path, options: options).save(work, mode: mode, previous: previous)
        } catch {
            state.withLock { $0.hasUnsaved = true }
            throw error
        }
    }
}
