// SPDX-License-Identifier: MIT

extension Upload {
    /// The settings of an upload.
    public struct Options: Sendable {
        /// The storage of the descriptor of an unfinished upload.
        public enum Storage: Sendable {
            /// Nowhere: the upload ends with the call.
            case none
            /// In a file beside the source, with the suffix `.curlew-upload`. Only for sources that are files.
            case besideSource
            /// In the file at this path, which belongs to one upload.
            case file(String)
        }

        /// The detection of the protocol. Default `.discovered`.
        public var resumption = Resumption.discovered
        /// Whether the source is sent as the content of one ordinary request if the server does not offer tus. Default
        /// false: the upload then throws `.badResponse`. Applies to `.discovered`.
        public var allowsPlain = false
        /// The file name for the server, whose extension determines the media type. Default nil: the last component of the
        /// path of a file.
        public var fileName: String?
        /// Further metadata for a tus server (`Upload-Metadata`). A name is ASCII without spaces and commas.
        public var metadata: [String: String] = [:]
        /// The maximum number of bytes of one request; nil for one request with everything that is left. Set it below
        /// the limit that proxies and servers have for the content of a request. Default nil, which means 4 MiB for
        /// streams: their chunks are held in memory.
        public var chunkSize: Int64?
        /// The maximum number of failures without progress in between. Progress is an eighth of what a request sends,
        /// and after a cut 64 KiB are enough. A server that keeps less of a request that it answers with success has
        /// failed. A call sends at most three times the content in all, or 16 MiB if that is more. Default 10.
        public var maximumFailures = 10
        /// The maximum wait after a failure. It also limits `Retry-After`. Waits are random below a bound that doubles
        /// from one second. Default 60 s.
        public var maximumWait = Duration.seconds(60)
        /// The storage of the descriptor, so that a later call continues. Default `.none`.
        public var storage = Storage.none
        /// Returns the jitter of the next wait, from 0 to 1.
        package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

        /// Creates options from those that most uploads set.
        public init(
            _ resumption: Resumption = .discovered, storage: Storage = .none, chunkSize: Int64? = nil,
            allowsPlain: Bool = false
        ) {
            self.resumption = resumption
            self.storage = storage
            self.chunkSize = chunkSize
            self.allowsPlain = allowsPlain
        }
    }
}

extension Upload.Options {
    /// The size of the chunks that are held in memory, unless the options say otherwise.
    static let bufferedChunk: Int64 = 4 << 20
    /// The maximum size of these chunks.
    static let maximumBuffer: Int64 = 64 << 20
}
