// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
import CurlewRecording

extension Cassette {
    /// The number of entries that the file contained, or that were recorded.
    public var count: Int { state.withLock { $0.index.slots.count + $0.recorded.count } }

    /// The entries of the file that were not replayed, in the order of the file: their numbers, methods and URLs, such
    /// as `3: GET https://api.example.com/users`. Empty in the mode ``Mode/recordAll``.
    public var unused: [String] {
        state.withLock { state in
            state.index.slots.filter { !$0.isUsed }.map { slot in
                "\(slot.number): \(CassetteRequest(slot.entry, redaction: options.redaction).line)".printable
            }
        }
    }

    /// What went wrong: requests without a match, and exchanges that were not recorded. At most 1,000 lines, without
    /// secrets.
    public var problems: [String] { state.withLock { $0.problems } }

    /// Throws `.refused(by: .cassette)` if there are ``problems``, or ``unused`` entries. The description of the error
    /// lists them. Call it at the end of a test.
    ///
    /// - `allowsUnused`: whether unused entries are acceptable, for tests that share a file. Default false.
    public func verify(allowsUnused: Bool = false) throws(NetworkError) {
        let problems = problems
        let unused = allowsUnused ? [] : unused
        guard !(problems.isEmpty && unused.isEmpty) else { return }
        let report = CassetteProblems(problems: problems, unused: unused)
        throw NetworkError(
            .refused(by: .cassette),
            detail: "The cassette \(path) has \(problems.count) problems and \(unused.count) unused entries.",
            hint: unused.isEmpty ? nil : "Record it anew: \(Mode.variable)=all.", underlying: report)
    }

    /// Saves what was recorded, and then throws the errors of ``verify(allowsUnused:)``.
    ///
    /// - `allowsUnused`: whether unused entries are acceptable, for tests that share a file. Default false.
    public func finish(allowsUnused: Bool = false) async throws(NetworkError) {
        try await save()
        try verify(allowsUnused: allowsUnused)
    }

    /// Returns the error for a request that no entry matches, and stores it as a problem.
    func mismatch(
        _ request: CassetteRequest, _ redaction: Redaction, line: NetworkError.RequestLine
    ) -> NetworkError {
        let (slots, recordings) = state.withLock { ($0.index.slots, $0.index.count(request)) }
        let report = CassetteNearest(request: request, options: options, redaction: redaction)
            .report(slots, recordings: recordings)
        self.report("\(report)")
        return NetworkError(
            .refused(by: .cassette), detail: report.summary,
            hint: recordings > 0
                ? "Record it anew (\(Mode.variable)=all), or use Cassette.Options.exhaustion = .repeatLast."
                : "Record the request: \(Mode.variable)=new. Or record all anew: \(Mode.variable)=all.",
            request: line, underlying: report)
    }
}

/// The problems and unused entries of a cassette, one per line.
struct CassetteProblems: LineReport, CustomStringConvertible {
    let problems: [String]
    let unused: [String]

    var description: String {
        (problems.prefix(20) + unused.prefix(50).map { "unused entry \($0)" }).joined(separator: "\n")
    }
}

/// Finds the entries that resemble a request.
struct CassetteNearest {
    let request: CassetteRequest
    let options: Cassette.Options
    /// The secrets of the options and of the client, which an entry of another program may contain.
    let redaction: Redaction

    /// The maximum number of entries whose paths are compared.
    private static let mostPaths = 5000
    /// The maximum number of entries that are compared completely.
    private static let mostEntries = 30

    func report(_ slots: [CassetteIndex.Slot], recordings: Int) -> RequestMismatch {
        let summary =
            recordings > 0
            ? "All \(recordings) recordings of \(request.line) were replayed."
            : "No entry of the cassette matches \(request.line)."
        let rough = slots.prefix(Self.mostPaths).map { slot -> (slot: CassetteIndex.Slot, weight: Int) in
            let url = CassetteURL(redaction.url(slot.entry.request.url))
            let weight = path(url.path).reduce(0) { $0 + $1.weight } * 4
            return (
                slot,
                weight + (slot.entry.request.method == request.method ? 0 : 4) + (url.query == request.query ? 0 : 1)
            )
        }
        let order = rough.sorted { ($0.weight, $0.slot.number) < ($1.weight, $1.slot.number) }.prefix(Self.mostEntries)
        var seen: Set<String> = []
        let candidates = order.compactMap { item -> (name: String, differences: [Difference])? in
            let entry = CassetteRequest(item.slot.entry, redaction: redaction)
            let differences = differences(entry, isUsed: item.slot.isUsed)
            let isNew = seen.insert(entry.line + differences.map(\.text).joined()).inserted
            return isNew ? ("\(entry.line) (entry \(item.slot.number))", differences) : nil
        }
        return RequestMismatch(summary.printable, among: candidates, noun: .entry, count: slots.count)
    }

    private func path(_ other: String) -> [Difference] {
        guard other != request.path else { return [] }
        func segments(_ path: String) -> [String] {
            path.parts("/", keepingEmpty: true).dropFirst().map { PercentCoding.decode(String($0)) ?? String($0) }
        }
        return PathDifference(noun: .entry).differences(
            sent: segments(request.path), wanted: segments(other).map { PathDifference.Segment(shown: $0) })
    }

    private func differences(_ entry: CassetteRequest, isUsed: Bool) -> [Difference] {
        let matching = options.matching
        var found: [Difference] = []
        if entry.method != request.method {
            found.append(
                Difference("the method of the request is \(request.method), that of the entry is \(entry.method)"))
        }
        if matching.origin, entry.origin != request.origin {
            found.append(Difference("the request goes to \(request.origin), the entry to \(entry.origin)"))
        }
        found += path(entry.path)
        let (mine, theirs) = (request.key(matching), entry.key(matching))
        if mine.query != theirs.query {
            let items = ItemDifference.differences(sent: mine.query, recorded: theirs.query, kind: "query item")
            found += items.isEmpty ? [Difference("the order of the query's items differs", weight: 1)] : items
        }
        found += ItemDifference.differences(sent: mine.fields, recorded: theirs.fields, kind: "field")
        found += body(mine.body, theirs.body, of: entry)
        if found.isEmpty {
            found.append(Difference(isUsed ? "it was already replayed" : "a value that is not shown", weight: 0))
        }
        return found
    }

    private func body(
        _ sent: CassetteKey.Body, _ recorded: CassetteKey.Body, of entry: CassetteRequest
    ) -> [Difference] {
        if sent == recorded { return [] }
        switch (sent, recorded) {
        case (.json(let mine), .json(let theirs)): return JSONDifference.between(sent: mine, recorded: theirs)
        case (.form(let mine), .form(let theirs)):
            return ItemDifference.differences(sent: mine, recorded: theirs, kind: "form field")
        default:
            let mine = Self.shown(sent, isLegible: request.isLegible)
            let theirs = Self.shown(recorded, isLegible: entry.isLegible)
            return [Difference("body: the request has \(mine), the entry has \(theirs)")]
        }
    }

    /// - `isLegible`: whether the secrets in the bytes were recognized, so that they may be shown.
    private static func shown(_ body: CassetteKey.Body, isLegible: Bool) -> String {
        switch body {
        case .none: return "none"
        case .json: return "JSON"
        case .form: return "a form"
        case .bytes(let data):
            let text = String(decoding: data.prefix(64), as: UTF8.self)
            return "\(data.count) bytes" + (isLegible ? ", \(Difference.quoted(text, limit: 60))" : "")
        }
    }
}
