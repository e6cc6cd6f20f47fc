// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension Upload {
    /// An unfinished upload, for a later call and for another process: `client.resume(descriptor)`.
    ///
    /// The descriptor does not contain the offset, which only the server knows. It contains URLs that may be secrets, so
    /// keep it like a credential.
    public struct Descriptor: Codable, Hashable, Sendable {
        /// The absolute URL of the request that creates the upload.
        public let endpoint: String
        /// The path of the source; nil for bytes and streams.
        public let path: String?
        /// The number of bytes of the source.
        public let length: Int64
        /// The absolute URL of the upload on the server, which may be a secret. Nil before the server has created it.
        public internal(set) var url: String?
        /// The time after which the server may forget the upload; nil if the server did not say.
        public internal(set) var expires: Date?
        var fingerprint: Fingerprint
        /// The metadata, with which an upload that the server has forgotten begins again.
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
    /// none. Throws `NetworkError` with reason `.storage` if the descriptor cannot be read, or if other users can read
    /// or change it.
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
