// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation

/// Responses that are written to a file.
extension APIClient {
    /// Sends `route` and writes its response to a file. Returns the file, with status, headers and the final URL:
    ///
    ///     let saved = try await client.download(.export, to: "/var/exports/today.csv") { print($0) }
    ///     try await client.download(.export, to: "/var/exports/")
    ///
    /// - `path`: the path of the file. A path that ends in `/` names a folder: the file then has the name that the
    ///   server suggests (`Content-Disposition`, otherwise the URL), made safe for file systems. The folder must exist.
    /// - `options`: the treatment of existing and partial files: see `FileDownload.Options`.
    /// - `progress`: receives the progress; see `TransferProgress`.
    ///
    /// The file receives its name when it is complete, checked and synchronized to the disk. Until then the bytes are
    /// in `<name>.part` in the same folder; if `path` names a folder, in `.<key>.part`. If the connection is lost, the
    /// download continues where it stopped, with `Range` and `If-Range` (RFC 9110 §13.1.5), under the conditions of
    /// `Options.resumes`. The waits grow to 30 s, with `Retry-After` to 60 s. The download fails after eight
    /// consecutive attempts that receive less than 64 KiB each. If the call fails or is cancelled, or its process ends,
    /// the next download to the same path continues the partial file.
    ///
    /// - If the file has changed on the server, it is downloaded again from the start; the fourth change throws
    ///   `.badResponse`.
    /// - A partial response that cannot be combined safely with the first bytes is not used: one without the entity tag
    ///   of the file, with another range or length than requested, with a content coding, or with several ranges (RFC
    ///   9110 §15.3.7). The download then begins again, without ranges.
    /// - The length of the file, `Options.checksum`, and, if the response has a length, SHA-256 and SHA-512 digests in
    ///   `Repr-Digest` and `Content-Digest` fields (RFC 9530) are checked. A body that is too short counts as a lost
    ///   connection. After a wrong digest, a continued file is downloaded again; any other throws `.badResponse`.
    /// - The request accepts no content coding, because encoded bytes cannot be continued. If the server applies one
    ///   nevertheless, the response is decoded and cannot be continued.
    /// - Of two downloads to the same path at the same time, in any process, the second one throws `.storage`.
    ///
    /// A status that is not a success throws `.status`, even for a route to an `HTTPResponse`. A route with a `Range`
    /// field saves that part, which is never continued. The total timeout of the call includes all parts and waits. A
    /// file larger than `Limits.download` (16 GiB by default) throws `.limitExceeded`. Memory use is bounded.
    ///
    /// Throws `NetworkError`: `.storage` if the file cannot be written, before anything is sent where that can be
    /// detected. If the download fails, the file at the final name is unchanged, or there is none.
    @concurrent @discardableResult
    public func download(
        _ route: some Route, to path: String, options: FileDownload.Options = FileDownload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Response<FileDownload.File> {
        try await DownloadRun.perform(self, route, to: path, options, progress)
    }

    /// Sends `request` and writes its response to a file, as the overload for routes does. `Value` is not decoded.
    @concurrent @discardableResult
    public func download<Value>(
        _ request: Request<Value>, to path: String, options: FileDownload.Options = FileDownload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Response<FileDownload.File> {
        try await DownloadRun.perform(self, request, to: path, options, progress)
    }

    /// Sends `route` and writes its response to a file, or into a folder if the file URL ends in `/`. Throws
    /// `.invalidRequest` for any other URL.
    @concurrent @discardableResult
    public func download(
        _ route: some Route, to file: URL, options: FileDownload.Options = FileDownload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Response<FileDownload.File> {
        try await DownloadRun.perform(self, route, to: file.downloadPath(), options, progress)
    }

    /// Sends `request` and writes its response to a file, or into a folder if the file URL ends in `/`. Throws
    /// `.invalidRequest` for any other URL.
    @concurrent @discardableResult
    public func download<Value>(
        _ request: Request<Value>, to file: URL, options: FileDownload.Options = FileDownload.Options(),
        progress: TransferProgress.Handler? = nil
    ) async throws(NetworkError) -> Response<FileDownload.File> {
        try await DownloadRun.perform(self, request, to: file.downloadPath(), options, progress)
    }
}

extension URL {
    /// The path of a file URL, which ends in `/` for a folder.
    fileprivate func downloadPath() throws(NetworkError) -> String {
        let path = try filePath()
        return hasDirectoryPath && !path.utf8.elementsEqual("/".utf8) ? path + "/" : path
    }
}
