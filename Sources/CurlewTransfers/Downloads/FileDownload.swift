// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Names the options and the result of `APIClient.download`.
public enum FileDownload {
    /// A file that a download has written.
    public struct File: Hashable, Sendable {
        /// The path of the file.
        public let path: String
        /// The size of the file in bytes.
        public let byteCount: Int64
        /// The number of bytes that an earlier download left and that were not transferred again.
        public let resumedByteCount: Int64
    }

    /// The treatment of an existing file of the same name.
    public enum Existing: Hashable, Sendable {
        /// The download throws `.storage`, before anything is sent unless the server chooses the name.
        case fail
        /// Replaces the file when the download is complete. The new file has the permissions of the old one, unless the
        /// server chooses the name.
        case replace
        /// Keeps the file, and uses the first free name of `name (1).ext` to `name (999).ext`. If none is free, the
        /// download throws `.storage`.
        case keepBoth
    }

    /// The expected digest of a file.
    public struct Checksum: Hashable, Sendable {
        let algorithm: DigestField.Algorithm
        let hex: String

        /// A SHA-256 digest as 64 hexadecimal digits, in either case. Any other text matches no file.
        public static func sha256(_ hex: String) -> Checksum {
            Checksum(algorithm: .sha256, hex: hex.lowercased())
        }

        /// A SHA-512 digest as 128 hexadecimal digits, in either case. Any other text matches no file.
        public static func sha512(_ hex: String) -> Checksum {
            Checksum(algorithm: .sha512, hex: hex.lowercased())
        }
    }

    /// The options of a download.
    public struct Options: Sendable {
        /// The treatment of an existing file. Default `.fail`.
        public var existing: Existing
        /// Whether a failed download keeps its partial file, and the next one to the same path continues it. Default
        /// true. Within a call, a lost connection is continued in any case.
        ///
        /// Only a response with a strong validator (RFC 9110 §8.8.1), a length and no content coding can be continued;
        /// otherwise a lost connection ends the download and removes the file, as do 404, 410 and `.limitExceeded`.
        public var resumes: Bool
        /// The expected digest of the complete file, in addition to those that the server sends (RFC 9530). After a
        /// mismatch the call throws `.badResponse` and saves nothing. Default nil.
        public var checksum: Checksum?
        /// The name by which a partial file of an earlier download is recognized. Default nil: the method and the URL
        /// of the call. Set a key for a file whose URL changes, such as a signed one.
        public var resumeKey: String?
        /// Creates the route again when the server no longer accepts its URL: after 400, 401, 403, 404 or 410, at most
        /// five times for each download. An error of the closure ends the download. Default nil. For signed URLs:
        ///
        ///     options.renewing = { Request<Data>.get(url: try await api.signedURL(of: video)) }
        public var renewing: (@Sendable () async throws -> any Route)?

        /// Creates options.
        public init(
            existing: Existing = .fail, resumes: Bool = true, checksum: Checksum? = nil,
            resumeKey: String? = nil, renewing: (@Sendable () async throws -> any Route)? = nil
        ) {
            self.existing = existing
            self.resumes = resumes
            self.checksum = checksum
            self.resumeKey = resumeKey
            self.renewing = renewing
        }
    }
}
