// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// The values of resumable uploads: what is uploaded, how, and with which result. See `APIClient.upload`.
public enum Upload {
    /// The detection of the protocol.
    public enum Resumption: Hashable, Sendable {
        /// The client asks the server with OPTIONS whether it offers tus 1.0, and for which sizes.
        case discovered
        /// tus 1.0. The client does not ask the server.
        case tus
    }

    /// The bytes to upload.
    public struct Source: Sendable {
        enum Kind: Sendable {
            case file(String)
            case data(Data)
            case stream(length: Int64, make: @Sendable () throws -> RequestBody.Chunks)
            case refused(NetworkError)
        }

        let kind: Kind

        /// Creates a source from a file, which is read while it is sent. If the file changes meanwhile, the upload ends
        /// with `.encoding`.
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

        /// Creates a source from a stream, which is read once. One chunk of it (`Upload.Options.chunkSize`) is in
        /// memory, so that a cut costs no byte; an upload that the server has forgotten cannot begin again.
        ///
        /// - `length`: the exact number of bytes.
        public static func stream(
            length: Int64, make: @escaping @Sendable () throws -> RequestBody.Chunks
        ) -> Source {
            Source(kind: .stream(length: length, make: make))
        }
    }

    /// The outcome of a complete upload.
    public struct Result: Sendable {
        /// The absolute URL of the upload on the server, which may be a secret. Nil for a plain upload.
        public let url: String?
        /// The number of bytes of the source.
        public let length: Int64
        /// The response that completed the upload, with its content. Nil if a cut lost it, or if the upload was already
        /// complete when it was resumed.
        public let response: Response<Data>?
    }
}

extension Upload.Source: MirroredByDescription {
    /// The kind and the length; never the content.
    public var description: String {
        switch kind {
        case .file(let path): "file \(path)"
        case .data(let data): "\(data.count) bytes"
        case .stream(let length, _): "stream of \(length) bytes"
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
