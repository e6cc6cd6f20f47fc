// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Upload {
    /// An unfinished upload, for a later call and for another process: `client.resume(descriptor)`.
    ///
    /// The descriptor does not contain the offset, which only the server knows. It contains URLs that may be secrets, so
    /// keep it like a credential.
    public struct Descriptor: Codable, Hashable, Sendable {
        /// A part of the source, with the URL of its upload if that exists.
        struct Part: Codable, Hashable, Sendable {
            var url: String?
            var offset: Int64
            var length: Int64?
        }

        /// The absolute URL of the request that creates the upload.
        public let endpoint: String
        /// The method of the request that creates the upload.
        let method: String
        /// The protocol, after discovery.
        public let resumption: Resumption
        /// The path of the source; nil for bytes and streams.
        public let path: String?
        /// The number of bytes of the source; nil if it is unknown.
        public let length: Int64?
        /// The time after which the server may forget the upload; nil if the server did not say.
        public internal(set) var expires: Date?
        var fingerprint: Fingerprint
        var parts: [Part]
        /// The checksum that the server offers.
        var checksum: String?
        /// The metadata, with which an upload that the server has forgotten begins again.
        var metadata: UploadMetadata
        /// The file from which the descriptor was read.
        var file: String?

        private enum CodingKeys: String, CodingKey {
            case endpoint, method, resumption, path, length, expires, fingerprint, parts, checksum, metadata
        }
    }

    /// What identifies the content of a source.
    struct Fingerprint: Codable, Hashable, Sendable {
        var seconds: Int64?
        var nanoseconds: Int64?
        /// The hexadecimal digest; nil unless it was asked for, or the source is in memory.
        var digest: String?
    }
}

extension Upload.Descriptor {
    /// The absolute URLs of the upload on the server: several for an upload in parallel parts, and none before the
    /// server has created it. They may be secrets.
    public var urls: [String] { parts.compactMap(\.url) }

    /// Reads the descriptor that `Upload.Options.Storage.besideSource` keeps for the file at `path`; nil if there is
    /// none. Throws `NetworkError` with reason `.storage` if the descriptor cannot be read, or if other users can read
    /// or change it.
    public static func saved(besideFile path: String) throws(NetworkError) -> Upload.Descriptor? {
        try UploadStore.load(UploadStore.path(besideFile: path))
    }

    var dialect: any UploadDialect {
        resumption == .draft ? DraftDialect() : TusDialect()
    }

    /// Whether the parts cover the source without gaps and no URL leaves https, as in every descriptor that was not
    /// changed by other programs.
    var isValid: Bool {
        guard let first = parts.first, parts.count <= Upload.Options.mostParts, resumption != .discovered,
            let origin = (try? URLParts(endpoint))?.origin, first.offset == 0
        else { return false }
        let isSafe = urls.allSatisfy { url in
            guard let other = (try? URLParts(url))?.origin else { return false }
            return other.isSecure || !origin.isSecure
        }
        guard isSafe else { return false }
        if parts.count == 1 { return first.length == length && (length ?? 0) >= 0 }
        var end: Int64 = 0
        for part in parts {
            guard part.offset == end, let length = part.length, length >= 0 else { return false }
            let (sum, overflow) = end.addingReportingOverflow(length)
            guard !overflow else { return false }
            end = sum
        }
        return end == length
    }

    /// Whether both describe the same bytes.
    func isOf(length: Int64?, _ other: Upload.Fingerprint) -> Bool {
        guard self.length == length else { return false }
        if let digest = fingerprint.digest, let others = other.digest { return digest == others }
        return fingerprint.seconds == other.seconds && fingerprint.nanoseconds == other.nanoseconds
    }
}

extension Upload.Descriptor: CustomStringConvertible, CustomReflectable {
    /// The protocol, the origin and the length. The URLs are omitted, because they may be secrets.
    public var description: String {
        let origin = (try? URLParts(endpoint))?.origin.description ?? "an invalid URL"
        return "\(resumption.rawValue) upload to \(origin), \(length.map { "\($0) bytes" } ?? "of unknown length")"
    }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
