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
        let report = RequestMismatch(
            request, among: slots, recordings: recordings, matching: options.matching, redaction: redaction)
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

extension RequestMismatch {
    /// The maximum number of entries that are compared completely.
    private static let mostEntries = 30

    /// Creates the report for a request that no entry of a cassette matches.
    ///
    /// - `recordings`: the number of entries that were recorded of this request.
    /// - `redaction`: the secrets of the options and of the client, which an entry of another program may contain.
    init(
        _ request: CassetteRequest, among slots: [CassetteIndex.Slot], recordings: Int, matching: Cassette.Matching,
        redaction: Redaction
    ) {
        let rough = slots.map { slot in
            let path = CassetteURL(redaction.url(slot.entry.request.url)).path
            return (slot: slot, count: request.differences(from: path, of: slot.entry.request.method).count)
        }
        let least = rough.map(\.count).min()
        let candidates = rough.filter { $0.count == least }.prefix(Self.mostEntries).map { slot, _ in
            let entry = CassetteRequest(slot.entry, redaction: redaction)
            var found = request.differences(from: entry, matching)
            if found.isEmpty { found = [slot.isUsed ? "it was already replayed" : "the entry has other secrets"] }
            return Candidate(
                name: "\(entry.line) (entry \(slot.number))", differences: found,
                commonPrefix: Candidate.commonPrefix(entry.path, request.path))
        }
        self.init(
            recordings > 0
                ? "All \(recordings) recordings of \(request.line) were replayed.".printable
                : "No entry of the cassette matches \(request.line).".printable,
            among: candidates, noun: .entry, count: slots.count)
    }
}

extension CassetteRequest {
    fileprivate func differences(from path: String, of method: String) -> [String] {
        RoutePattern(HTTPMethod(rawValue: method), path).differences(from: HTTPMethod(rawValue: self.method), self.path)
    }

    fileprivate func differences(from entry: CassetteRequest, _ matching: Cassette.Matching) -> [String] {
        let (mine, theirs) = (key(matching), entry.key(matching))
        var found = differences(from: entry.path, of: entry.method)
        if mine.origin != theirs.origin { found.append("the origin is \(mine.origin), not \(theirs.origin)") }
        found += Self.difference("query item", mine.query, theirs.query)
        found += Self.difference("field", mine.fields, theirs.fields)
        if mine.body != theirs.body {
            found.append("the body (\(body.count) bytes) differs from that of the entry (\(entry.body.count) bytes)")
        }
        return found
    }

    private static func difference(_ kind: String, _ mine: [CassetteItem], _ theirs: [CassetteItem]) -> [String] {
        if mine == theirs { return [] }
        func shown(_ item: CassetteItem) -> String { "\(kind) \(item.name)=\(item.value)".clipped(to: 200) }
        if let item = mine.first(where: { !theirs.contains($0) }) { return ["the entry lacks the \(shown(item))"] }
        if let item = theirs.first(where: { !mine.contains($0) }) { return ["the request lacks the \(shown(item))"] }
        return ["the \(kind)s have another order or number"]
    }
}
