// SPDX-License-Identifier: MIT

/// The settings of a stream of records. Every limit has a default.
public struct RecordStreamOptions: Sendable {
    /// The format of the records. Nil selects it by the `Content-Type` of the response, which must then be one of the
    /// media types below. Otherwise the `Content-Type` is not checked. Default nil.
    ///
    /// - `.lines`: `application/jsonl`, `application/x-ndjson`, `application/ndjson`, `application/x-jsonlines`,
    ///   `application/jsonlines`, `application/json-lines`, `application/x-json-lines`, `application/stream+json`
    /// - `.sequence`: `application/json-seq` and types with the suffix `+json-seq` (RFC 8091)
    public var format: RecordFormat?
    /// Whether a record that cannot be decoded is skipped and counted (`RecordStream.skippedRecords`). If false, it
    /// ends the stream with `.decoding`. Default false.
    public var skipsBadRecords = false
    /// The maximum size of a record in bytes, without its line feed. A larger record ends the stream with
    /// `.limitExceeded(.responseBody)`, also if bad records are skipped. Default 1 MiB.
    public var maximumRecordSize = 1 << 20
    /// The time without a byte from the server after which the connection counts as lost; it replaces `Timeouts.idle`.
    /// The time in which the caller does not read does not count. Nil sets no limit. Default 5 minutes.
    public var readTimeout: Duration? = .seconds(300)

    /// Creates the default options.
    public init() {}
}

/// The format of a stream of records.
@nonexhaustive
public enum RecordFormat: Hashable, Sendable {
    /// JSON Lines, also known as NDJSON: one JSON text in UTF-8 per line. A line ends with LF or CR LF, the last one
    /// also with the end of the body. Blank lines, and a byte order mark at the beginning, are skipped.
    case lines
    /// A JSON text sequence (RFC 7464): each JSON text follows a record separator (0x1E) and ends with LF. A number,
    /// `true`, `false` or `null` without white space after it counts as a bad record, because it may be truncated
    /// (RFC 7464 §2.4). So does text that does not follow a separator.
    case sequence
}
