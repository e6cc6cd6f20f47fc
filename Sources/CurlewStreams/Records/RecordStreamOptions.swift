// SPDX-License-Identifier: MIT

/// The settings of a stream of records. Every limit has a default.
public struct RecordStreamOptions: Sendable {
    /// Whether a response with another `Content-Type` than those of JSON Lines throws `.badResponse`. If false, the
    /// `Content-Type` is not checked. Default true.
    ///
    /// The media types are `application/jsonl`, `application/x-ndjson`, `application/ndjson`, `application/x-jsonlines`,
    /// `application/jsonlines`, `application/json-lines`, `application/x-json-lines` and `application/stream+json`.
    public var checksContentType = true
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
