// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The URL to which a client appends paths: an origin and an optional path.
///
///     let client = APIClient(baseURL: "https://api.example.com/v1")
///
/// Paths of calls are appended to the URL, never resolved against it. A literal never traps: an invalid one keeps its
/// problem, and calls to a path throw it as `.invalidRequest`. An interpolated value can determine only the part of the
/// URL where it appears: `"https://\(tenant).api.example.com"`. For text from outside the program, use the throwing
/// initializer: `try BaseURL(text)`.
public struct BaseURL: Sendable {
    /// The scheme, host and port; nil when the URL is invalid.
    public let origin: Origin?
    /// The path, percent-encoded, without a trailing slash; empty for a bare origin.
    public let path: String
    /// The reason why the URL is invalid; nil when it is valid.
    public let problem: NetworkError?

    /// Creates a base URL from text. Throws `NetworkError` with reason `.invalidRequest` if the text is not an absolute
    /// http or https URL, or contains a user name, a query or a fragment.
    public init(_ string: String) throws(NetworkError) {
        let parts = try HTTPRequest.parse(string)
        guard !string.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw NetworkError(
                .invalidRequest, detail: "The base URL has a query or fragment: \(Self.shown(string))",
                hint: "Put items that every call sends into client.with(query:).")
        }
        self.init(origin: parts.origin, path: parts.target)
    }

    /// Creates a base URL from a Foundation `URL`. If that is invalid, `problem` has the reason, and `send` throws it.
    public init(_ url: URL) {
        self.init(stringLiteral: url.absoluteString)
    }

    init(origin: Origin, path: String = "") {
        var end = path.utf8.endIndex
        while end > path.utf8.startIndex, path.utf8[path.utf8.index(before: end)] == UInt8(ascii: "/") {
            end = path.utf8.index(before: end)
        }
        self.origin = origin
        self.path = end == path.utf8.endIndex ? path : String(path[..<end])
        problem = nil
    }

    init(unusable problem: NetworkError) {
        origin = nil
        path = ""
        self.problem = problem
    }

    private static func shown(_ text: String) -> String {
        Redaction.standard.unusable(url: text).clipped(to: 200).printable
    }
}

extension BaseURL: ExpressibleByStringLiteral, ComparedByKey, MirroredByDescription {
    /// Creates a base URL from a literal. Never traps: if the literal is invalid, `problem` has the reason.
    public init(stringLiteral value: String) {
        do {
            try self.init(value)
        } catch {
            var problem = error
            problem.detail = "The base URL \"\(Self.shown(value))\" cannot be used. \(error.detail)"
            problem.hint = error.hint ?? "Write it as https://host/path."
            self.init(unusable: problem)
        }
    }

    /// The origin and the path, or the reason if the URL is invalid.
    var comparisonKey: [String?] { [origin?.description, path, problem?.detail] }

    /// The URL, or the reason why it is invalid.
    public var description: String {
        origin.map { "\($0)\(path)" } ?? problem?.detail ?? ""
    }
}
