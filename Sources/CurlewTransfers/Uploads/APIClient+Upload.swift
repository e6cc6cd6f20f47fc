// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Uploads that continue after a lost connection, and after the process has ended.
extension APIClient {
    /// Uploads `source` to the resource that `request` names, and continues after each lost connection:
    ///
    ///     let options = Upload.Options(storage: .besideSource)
    ///     let upload = try await client.upload(.file(path), to: .post("/files"), options: options)
    ///
    /// If the options keep a descriptor in a file, the same call continues the upload of an earlier call or process, if
    /// the source has not changed. To pause an upload, cancel the task and keep the descriptor.
    ///
    /// `request` creates the upload, with POST for tus: its header fields are sent with this request only, its options
    /// apply to all requests, and it has no body. Every request runs through the pipeline of the client, so that
    /// authentication, limits and logs apply. The total timeout does not apply to the requests that carry content; the
    /// idle timeout does. If the server creates the upload at another origin, no credentials of the client are sent
    /// there. An upload never moves from https to http.
    ///
    /// After a transient failure, the client waits, requests the offset and sends the remainder. It waits as long as
    /// `Retry-After` specifies, at most `Upload.Options.maximumWait`, and fails after more than
    /// `Upload.Options.maximumFailures` failures without progress. An upload that has expired or that the server has
    /// lost (404, 410) starts again, once. Two requests never transfer the same upload at the same time.
    ///
    /// - `progress`: receives the progress, which never decreases. Bytes count when the transport takes them.
    ///
    /// Throws `NetworkError`:
    /// - `.badResponse` if the server does not offer tus or violates it, or keeps too few bytes
    /// - `.invalidRequest` for a request with a body, invalid options, and a source that cannot be read or is too large
    /// - `.encoding` for a source that changes during the upload
    /// - `.storage` if the descriptor cannot be read, written or locked
    /// - `.refused(by: .uploadInProgress)` if another call of this process transfers the same upload, or if any process
    ///   transfers one with the same file of its descriptor, which is locked (`<file>.lock`)
    /// - otherwise the error of the last request
    @concurrent @discardableResult
    public func upload(
        _ source: Upload.Source, to request: Request<Void>, options: Upload.Options = Upload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Upload.Result {
        try await UploadSession(self, request, source, options, progress).upload()
    }

    /// Uploads `source` to the resource that a route names. The rules are those of the overload for inline requests.
    @concurrent @discardableResult
    public func upload(
        _ source: Upload.Source, to route: some Route, options: Upload.Options = Upload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Upload.Result {
        try await UploadSession(self, route, source, options, progress).upload()
    }

    /// Continues the upload of a descriptor, in this process or a later one.
    ///
    /// - `source`: the same bytes. Default nil: the file of the descriptor; throws `.invalidRequest` if there is none.
    /// - `options`: `resumption`, `allowsPlain`, `metadata` and `fileName` have no effect. A descriptor that was read
    ///   from a file is kept there, unless `storage` names another file.
    ///
    /// If the size or the modification time of the file, or the digest, differs from that of the descriptor, the upload
    /// starts again, without the header fields of the first request. Throws as `upload` does, and `.invalidRequest` for
    /// a damaged descriptor.
    @concurrent @discardableResult
    public func resume(
        _ upload: Upload.Descriptor, from source: Upload.Source? = nil, options: Upload.Options = Upload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Upload.Result {
        try Self.check(upload)
        guard let source = source ?? upload.path.map({ .file($0) }) else {
            throw NetworkError(
                .invalidRequest, detail: "The source of the upload was not a file.",
                hint: "Pass the same bytes again: resume(_:from:).")
        }
        var options = options
        if case .none = options.storage, let file = upload.file { options.storage = .file(file) }
        let request = Request<Void>(.post, url: upload.endpoint, name: "upload")
        return try await UploadSession(self, request, source, options, progress).resume(upload)
    }

    /// Discards an unfinished upload on the server (DELETE) and removes the file of its descriptor. An upload that the
    /// server does not have is not an error. Throws the error of the request otherwise, and keeps the file. Throws
    /// `.refused(by: .uploadInProgress)` while the upload is transferred, under the conditions of `upload`.
    @concurrent
    public func discard(_ upload: Upload.Descriptor) async throws(NetworkError) {
        try Self.check(upload)
        let claim = UploadClaim()
        defer { claim.release() }
        // Without its file, no other process can resume the upload.
        if let file = upload.file, FileManager.default.fileExists(atPath: file) { try claim.add(file: file) }
        let request = Request<Void>(.post, url: upload.endpoint, name: "upload")
        if let url = upload.url {
            try claim.add(url)
            do throws(NetworkError) {
                try await UploadRequests(client: self, route: request).remove(url)
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        UploadStore(file: upload.file).remove()
    }

    private static func check(_ upload: Upload.Descriptor) throws(NetworkError) {
        guard upload.isValid else {
            throw NetworkError(
                .invalidRequest, detail: "The descriptor of the upload is damaged.", hint: "Begin a new upload.")
        }
    }
}
