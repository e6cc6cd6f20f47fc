// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
import CurlewRecording

extension Cassette {
    /// The number of entries: those of the file, except in the mode ``Mode/recordAll``, and the recorded ones.
    public var count: Int { state.withLock { $0.index.slots.count + $0.recordedCount } }

    /// The entries of the file that were not replayed, in the order of the file: their numbers, methods and URLs, such
    /// as `3: GET https://api.example.com/users`. Empty in the mode ``Mode/recordAll``.
    public var unused: [String] {
        state.withLock { state in
            state.index.slots.filter { !$0.isUsed }.map { slot in
                "\(slot.number): \(slot.request.line)".printable
            }
        }
    }

    /// The problems: requests without a match, exchanges that were not recorded, and failed saves of ``shutdown(_:)``.
    /// At most the first 1,000, without secrets.
    public var problems: [String] { state.withLock { $0.problems } }

    /// Throws `.refused(by: .cassette)` if there are ``problems``, or ``unused`` entries. The description of the error
    /// lists the first 20 problems and 50 unused entries. Call this method at the end of a test.
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

    /// Saves the recorded entries as ``save()`` does, and then throws the errors of ``verify(allowsUnused:)``.
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
        let index = state.withLock { $0.index }
        let report = index.mismatch(request, redaction)
        self.report("\(report)")
        return NetworkError(
            .refused(by: .cassette), detail: report.summary,
            hint: index.count(request) > 0
                ? "Record it again (\(Mode.variable)=all), or use Cassette.Options.exhaustion = .repeatLast."
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
