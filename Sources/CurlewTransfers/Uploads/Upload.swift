// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// The source, options, descriptor and result of a resumable upload. See `APIClient.upload`.
public enum Upload {
    /// The detection of the protocol.
    public enum Resumption: Hashable, Sendable {
        /// The client determines with an OPTIONS request whether the server offers tus 1.0, and up to which size.
        case discovered
        /// tus 1.0. The client sends no OPTIONS request.
        case tus
    }

    /// The bytes to upload.
    public struct Source: Sendable {
        enum Kind: Sendable {
            case file(String)
            case data(Data)
            case refused(NetworkError)
        }

        let kind: Kind

        /// Creates a source from a file, which is read while it is sent. A change during the upload ends it with
        /// `.encoding`.
        public static func file(_ path: String) -> Source {
            Source(kind: .file(path))
        }

        /// Creates a source from the file at a file URL. For any other URL, the upload throws `.invalidRequest`.
        public static func file(_ url: URL) -> Source {
            do throws(NetworkError) {
                return file(try url.filePath())
            } catch {
                return Source(kind: .refused(error))
            }
        }

        /// Creates a source from bytes in memory.
        public static func data(_ data: Data) -> Source {
            Source(kind: .data(data))
        }
    }

    /// The outcome of a complete upload.
    public struct Result: Sendable {
        /// The absolute URL of the upload on the server, which may be a secret. Nil for a plain upload.
        public let url: String?
        /// The number of bytes of the source.
        public let length: Int64
        /// The response that completed the upload, with its content. Nil if it was lost with its connection, or if the
        /// upload was already complete when it was resumed.
        public let response: Response<Data>?
    }
}

extension Upload.Source: MirroredByDescription {
    /// The path of a file, or the number of bytes; never the content.
    public var description: String {
        switch kind {
        case .file(let path): "file \(path)"
        case .data(let data): "\(data.count) bytes"
        case .refused(let problem): problem.detail
        }
    }
}

extension Upload.Result: MirroredByDescription {
    /// The number of bytes and the status. The URL is omitted, because it may be a secret.
    public var description: String {
        "\(length) bytes" + (response.map { ", \($0.status)" } ?? "")
    }
}

extension Upload {
    /// The settings of an upload.
    public struct Options: Sendable {
        /// The storage of the descriptor of an unfinished upload.
        public enum Storage: Sendable {
            /// Nowhere: no later call can continue the upload.
            case none
            /// In a file beside the source, with the suffix `.curlew-upload`. For other sources, the upload throws
            /// `.invalidRequest`.
            case besideSource
            /// In the file at this path, which belongs to one upload.
            case file(String)
        }

        /// The detection of the protocol. Default `.discovered`.
        public var resumption = Resumption.discovered
        /// Whether the source is sent as the content of one ordinary request if `.discovered` finds no tus. Default
        /// false: the upload then throws `.badResponse`.
        public var allowsPlain = false
        /// The file name for the server, whose extension determines the media type. Default nil: the name of the
        /// source, if that is a file.
        public var fileName: String?
        /// Further metadata for a tus server (`Upload-Metadata`), by name. Default none. For a name that is empty or
        /// has a space, a comma or non-ASCII text, the upload throws `.invalidRequest`.
        public var metadata: [String: String] = [:]
        /// The maximum number of bytes of one request, at least 1; nil sends all remaining bytes in one request. Set it
        /// below the limit of proxies and servers for the content of a request. Default nil.
        public var chunkSize: Int64?
        /// The maximum number of consecutive failures without progress: one more ends the upload. Progress means that
        /// the server keeps an eighth of the bytes of a request; after a lost connection, 64 KiB are enough. A
        /// successful response without progress counts as a failure. In total, a call sends at most three times the
        /// content, or 16 MiB if that is more; then it throws `.badResponse`. Default 10.
        public var maximumFailures = 10
        /// The maximum wait after a failure. It also limits `Retry-After`. Waits are random, from half to all of a
        /// bound that doubles from one second. Default 60 s.
        public var maximumWait = Duration.seconds(60)
        /// The storage of the descriptor, so that a later call continues. Default `.none`.
        public var storage = Storage.none
        /// Returns the jitter of the next wait: 0 for half of the bound, 1 for all of it.
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

extension Upload {
    /// An unfinished upload, for a later call and for another process: `client.resume(descriptor)`.
    ///
    /// The descriptor does not contain the offset, which only the server knows. Its URLs may be secrets: keep it like a
    /// credential.
    public struct Descriptor: Codable, Hashable, Sendable {
        /// The absolute URL of the request that creates the upload.
        public let endpoint: String
        /// The path of the source; nil for bytes.
        public let path: String?
        /// The number of bytes of the source.
        public let length: Int64
        /// The absolute URL of the upload on the server, which may be a secret. Nil before the server has created it.
        public internal(set) var url: String?
        /// The time after which the server may forget the upload; nil if the server did not say.
        public internal(set) var expires: Date?
        var fingerprint: Fingerprint
        /// The metadata with which an upload starts again if the server has lost it.
        var metadata: UploadMetadata
        /// The file from which the descriptor was read.
        var file: String?

        private enum CodingKeys: String, CodingKey {
            case endpoint, path, length, url, expires, fingerprint, metadata
        }
    }

    struct Fingerprint: Codable, Hashable, Sendable {
        var seconds: Int64?
        var nanoseconds: Int64?
        /// The hexadecimal digest of a source in memory.
        var digest: String?
    }
}

extension Upload.Descriptor {
    /// Reads the descriptor that `Upload.Options.Storage.besideSource` keeps for the file at `path`; nil if there is
    /// none or it is damaged. Throws `NetworkError` with reason `.storage` if the descriptor cannot be read, or if
    /// other users can read or change it.
    public static func saved(besideFile path: String) throws(NetworkError) -> Upload.Descriptor? {
        try UploadStore(besideFile: path).load()
    }

    /// Whether the length is possible and the URL does not leave https, as in every descriptor that was not changed by
    /// other programs.
    var isValid: Bool {
        guard length >= 0, let origin = (try? URLParts(endpoint))?.origin else { return false }
        guard let url else { return true }
        guard let other = (try? URLParts(url))?.origin else { return false }
        return other.isSecure || !origin.isSecure
    }

    /// Whether the source has the same bytes, as far as its length, its time or its digest say.
    func isOf(_ source: UploadReader) -> Bool {
        length == source.length && fingerprint == source.fingerprint
    }
}

extension Upload.Descriptor: MirroredByDescription {
    /// The protocol, the origin and the length. The URL is omitted, because it may be a secret.
    public var description: String {
        let origin = (try? URLParts(endpoint))?.origin.description ?? "an invalid URL"
        return "tus upload to \(origin), \(length) bytes"
    }
}
