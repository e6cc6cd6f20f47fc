// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Decides how the body of a request is compressed.
struct CompressionRule: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case unchanged
        /// Bytes in memory, compressed before they are sent.
        case atOnce
        /// Compressed while they are sent, with an unknown length.
        case whileSending
    }

    /// The smallest body that is compressed, in bytes.
    let minimum: Int
    /// Whether files and streams are compressed.
    let streaming: Bool

    /// Returns the form for a request. Reads the size of a file if files are compressed.
    func form(of request: HTTPRequest) -> Form {
        guard !request.body.isEmpty, !Self.isBound(request),
            let type = request.headers[.contentType].flatMap({ MediaType($0) }), Self.isCompressible(type)
        else { return .unchanged }
        if case .parts = request.body.kind, let bytes = request.body.data {
            return bytes.count >= max(1, minimum) ? .atOnce : .unchanged
        }
        // A stream without a declared length is as long as it gets.
        guard streaming, request.body.lengthToSend ?? .max >= Int64(max(1, minimum)) else { return .unchanged }
        return .whileSending
    }

    /// Whether the fields or trailers describe the bytes of the body as they are: a coding, a part, or a digest of them.
    private static func isBound(_ request: HTTPRequest) -> Bool {
        bound.contains { request.headers.contains($0) || request.body.trailers?.names.contains($0) == true }
    }

    /// Returns whether content of this type usually becomes much smaller. Images, sound, video, archives and documents
    /// in ZIP files are compressed already, and so may be the files of a multipart form.
    static func isCompressible(_ type: MediaType) -> Bool {
        if type.isJSON || type.type == "text" || type.subtype.ends(with: "+xml") { return true }
        return type.type == "application" && applications.contains(type.subtype)
    }

    private static let applications: Set<String> = [
        "x-www-form-urlencoded", "xml", "javascript", "ecmascript", "graphql", "jsonl", "json-seq", "x-ndjson", "yaml",
        "x-yaml", "toml", "sql", "xml-dtd",
    ]

    private static let bound: Set<HTTPField.Name> = [
        .contentEncoding, .contentRange, "Content-Digest", "Repr-Digest", "Digest", "Content-MD5",
    ]
}

/// The origins that have refused compressed bodies: at most 64, each for an hour.
struct CompressionRefusals: Sendable {
    enum Refusal: Hashable, Sendable {
        /// No content coding (415).
        case coding
        /// No body without a length (411).
        case unknownLength
    }

    static let mostOrigins = 64
    static let memory = Duration.seconds(3600)

    private var entries: [Origin: (refusal: Refusal, end: MonotonicInstant)] = [:]

    var count: Int { entries.count }

    /// Returns the form for a request to an origin that may have refused another one.
    mutating func allowed(_ form: CompressionRule.Form, for origin: Origin, at now: MonotonicInstant)
        -> CompressionRule.Form
    {
        guard form != .unchanged, let entry = entries[origin] else { return form }
        guard now < entry.end else {
            entries[origin] = nil
            return form
        }
        switch entry.refusal {
        case .coding: return .unchanged
        case .unknownLength: return form == .whileSending ? .unchanged : form
        }
    }

    /// Remembers a refusal, in place of the oldest one if there are too many.
    mutating func remember(_ refusal: Refusal, of origin: Origin, at now: MonotonicInstant) {
        if entries[origin] == nil, entries.count >= Self.mostOrigins,
            let oldest = entries.min(by: { $0.value.end < $1.value.end })?.key
        {
            entries[oldest] = nil
        }
        // A refused coding is the wider refusal.
        let kept = entries[origin].map { $0.end > now && $0.refusal == .coding } == true ? Refusal.coding : refusal
        entries[origin] = (kept, now.advanced(by: Self.memory))
    }
}
