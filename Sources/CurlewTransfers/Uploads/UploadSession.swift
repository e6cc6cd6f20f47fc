// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// One call of `upload` or `resume`: finds an earlier upload, discovers the protocol, and begins.
struct UploadSession {
    let requests: UploadRequests
    let source: Upload.Source
    let options: Upload.Options
    let progress: TransferProgress.Handler?
    let store: UploadStore
    let reader: UploadReader
    let claim = UploadClaim()
    var time: any TimeSource { requests.client.configuration.time }

    init(
        _ client: APIClient, _ route: any Route, _ source: Upload.Source, _ options: Upload.Options,
        _ progress: TransferProgress.Handler?
    ) throws(NetworkError) {
        guard route.content.mediaType == nil else {
            throw NetworkError(
                .invalidRequest, detail: "The request that creates the upload has a body.",
                hint: "Pass the content as the source of the upload.")
        }
        requests = UploadRequests(client: client, route: route)
        self.source = source
        self.options = options
        self.progress = progress
        store = try UploadStore(options.storage, path: source.path)
        if let file = store.file { try claim.add(file: file) }
        reader = try UploadReader(source)
    }

    /// Begins the upload, or continues one that an earlier call has left.
    func upload() async throws(NetworkError) -> Upload.Result {
        defer { claim.release() }
        let endpoint = try requests.endpoint
        if let earlier = try store.load(), earlier.endpoint == endpoint, earlier.isOf(reader) {
            return try await run(earlier)
        }
        let metadata = try UploadMetadata(options, path: source.path)
        if options.resumption == .discovered {
            guard let features = try await discover() else { return try await plain(metadata) }
            if let maximum = features.maximumSize, reader.length > maximum {
                throw NetworkError(
                    .invalidRequest, detail: "The server accepts uploads of at most \(maximum) bytes.",
                    hint: "Upload less, or raise the limit of the server.")
            }
        }
        return try await run(descriptor(endpoint, metadata))
    }

    /// Continues the upload of a descriptor, or starts it again if the source has changed.
    func resume(_ descriptor: Upload.Descriptor) async throws(NetworkError) -> Upload.Result {
        defer { claim.release() }
        if descriptor.isOf(reader) { return try await run(descriptor) }
        return try await run(self.descriptor(descriptor.endpoint, descriptor.metadata))
    }

    private func descriptor(_ endpoint: String, _ metadata: UploadMetadata) -> Upload.Descriptor {
        Upload.Descriptor(
            endpoint: endpoint, path: source.path, length: reader.length, fingerprint: reader.fingerprint,
            metadata: metadata)
    }

    /// Requests the capabilities of the server; nil if it does not offer tus. Transient failures are retried.
    private func discover() async throws(NetworkError) -> TusFeatures? {
        var failures = UploadFailures(options, time)
        while true {
            do throws(NetworkError) {
                return TusFeatures(try await requests.discover().headers)
            } catch {
                if [400, 404, 405, 501].contains(error.statusCode) { return nil }
                guard error.isRetryable else { throw error }
                try await failures.wait(after: error)
            }
        }
    }

    /// Sends the source in one ordinary request, if the options allow that.
    private func plain(_ metadata: UploadMetadata) async throws(NetworkError) -> Upload.Result {
        guard options.allowsPlain else {
            throw NetworkError(
                .badResponse, detail: "The server does not offer tus at this URL.",
                hint: "If it does, set options.resumption to .tus. For one plain request, set options.allowsPlain.")
        }
        let meter = BodyMeter(progress, total: reader.length, time: time)
        defer { meter.end() }
        let response = try await requests.plain(source, metadata, meter)
        return Upload.Result(url: nil, length: reader.length, response: response)
    }

    private func run(_ descriptor: Upload.Descriptor) async throws(NetworkError) -> Upload.Result {
        if let url = descriptor.url { try claim.add(url) }
        let meter = BodyMeter(progress, total: descriptor.length, time: time)
        defer { meter.end() }
        var run = UploadRun(self, descriptor, meter)
        let result = try await run.perform()
        try reader.check()
        store.remove()
        return result
    }
}

extension Upload.Source {
    /// The path of a file; nil for other sources.
    var path: String? {
        if case .file(let path) = kind { path } else { nil }
    }
}
