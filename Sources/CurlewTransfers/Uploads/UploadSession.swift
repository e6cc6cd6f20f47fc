// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// One call of `upload` or `resume`: performs the actions of `UploadRun`, and keeps the descriptor.
struct UploadSession {
    let requests: UploadRequests
    let source: Upload.Source
    let options: Upload.Options
    let progress: TransferProgress.Handler?
    let store: UploadStore
    let reader: UploadReader
    let claim = UploadClaim()
    private var time: any TimeSource { requests.client.configuration.time }

    init(
        _ client: APIClient, _ route: any Route, _ source: Upload.Source, _ options: Upload.Options,
        _ progress: TransferProgress.Handler?
    ) throws(NetworkError) {
        guard route.content.mediaType == nil else {
            throw NetworkError(
                .invalidRequest, detail: "The request of an upload has a body of its own.",
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
        var features = TusFeatures(checksum: .sha1)
        if options.resumption == .discovered {
            guard let offered = try await discover() else { return try await plain(metadata) }
            features = offered
        }
        return try await run(descriptor(endpoint, features.checksum, metadata), features)
    }

    /// Continues the upload of a descriptor, or begins it anew if the source has changed.
    func resume(_ descriptor: Upload.Descriptor) async throws(NetworkError) -> Upload.Result {
        defer { claim.release() }
        if descriptor.isOf(reader) { return try await run(descriptor) }
        return try await run(self.descriptor(descriptor.endpoint, descriptor.checksum, descriptor.metadata))
    }

    private func descriptor(
        _ endpoint: String, _ checksum: UploadChecksum?, _ metadata: UploadMetadata
    ) -> Upload.Descriptor {
        Upload.Descriptor(
            endpoint: endpoint, path: source.path, length: reader.length, fingerprint: reader.fingerprint,
            checksum: checksum, metadata: metadata)
    }

    /// Asks the server what it offers; nil if it does not offer tus. Failures that may pass are repeated.
    private func discover() async throws(NetworkError) -> TusFeatures? {
        var failures = 0
        while true {
            do throws(NetworkError) {
                return TusRequests.features(try await requests.send(TusRequests.discovery, .empty).headers)
            } catch {
                if [400, 404, 405, 501].contains(error.statusCode) { return nil }
                failures += 1
                guard error.isRetryable, failures <= options.maximumFailures else { throw error }
                try await sleep(
                    UploadRun.pause(
                        after: failures, asked: error.retryAfter, most: options.maximumWait, options.random()))
            }
        }
    }

    /// Sends the source in one ordinary request, if the options allow that.
    private func plain(_ metadata: UploadMetadata) async throws(NetworkError) -> Upload.Result {
        guard options.allowsPlain else {
            throw NetworkError(
                .badResponse, detail: "The server does not offer tus at this URL.",
                hint: "Name the protocol with options.resumption, or set options.allowsPlain.")
        }
        let meter = BodyMeter(progress, total: reader.length, time: time)
        defer { meter.end() }
        let response = try await requests.plain(source, metadata, meter)
        return Upload.Result(url: nil, length: reader.length, response: response)
    }

    /// Runs the upload of a descriptor to its end.
    ///
    /// - `features`: what the server offers; nil for an upload of an earlier call.
    private func run(
        _ descriptor: Upload.Descriptor, _ features: TusFeatures? = nil
    ) async throws(NetworkError) -> Upload.Result {
        if let url = descriptor.url { try claim.add(url) }
        let meter = BodyMeter(progress, total: descriptor.length, time: time)
        defer { meter.end() }
        var run = UploadRun(plan(descriptor, features), url: descriptor.url, expires: descriptor.expires)
        let response = try await perform(&run, meter, descriptor)
        try reader.check()
        store.remove()
        return Upload.Result(url: run.url, length: run.offset, response: response)
    }

    private func plan(_ descriptor: Upload.Descriptor, _ features: TusFeatures?) -> UploadPlan {
        var plan = UploadPlan(length: descriptor.length, metadata: descriptor.metadata)
        plan.features = features ?? TusFeatures()
        plan.features.checksum = descriptor.checksum
        plan.usesChecksums = options.checksums
        let isBuffered = options.checksums || source.isStream
        let size = options.chunkSize ?? (isBuffered ? Upload.Options.bufferedChunk : .max)
        plan.chunkSize = max(1, min(size, isBuffered ? Upload.Options.largestBuffer : .max))
        plan.maximumFailures = max(0, options.maximumFailures)
        plan.maximumWait = max(.zero, options.maximumWait)
        return plan
    }

    /// Performs the actions of `run`, and returns the response that completed the upload, if it arrived.
    private func perform(
        _ run: inout UploadRun, _ meter: BodyMeter, _ descriptor: Upload.Descriptor
    ) async throws(NetworkError) -> Response<Data>? {
        var event = UploadRun.Event.begin
        var body = RequestBody.empty
        var response: Response<Data>?
        var kept = descriptor
        var position: Int64 = -1
        while true {
            run.taken = meter.taken
            let action = run.handle(event, at: time.date, random: options.random())
            if run.url != kept.url || Self.differs(run.expires, kept.expires) {
                if let url = run.url { claim.take(url) }
                (kept.url, kept.expires) = (run.url, run.expires)
                try store.save(kept)
            }
            switch action {
            case .send(let call):
                let content = call.sendsChunk ? body : call.isCreation ? RequestBody.bytes(Data()) : .empty
                do throws(NetworkError) {
                    let answer = try await requests.send(call, content)
                    event = .answered(answer.headers, url: answer.url)
                    response = call.sendsChunk || call.isCreation ? answer : nil
                } catch {
                    event = .failed(error)
                }
            case .read(let offset, let limit, let checksum):
                if offset != position { meter.move(to: offset) }
                let (chunk, content) = try await reader.read(at: offset, limit: limit, checksum)
                body = meter.counting(content, at: offset, length: chunk.count)
                position = offset + chunk.count
                event = .read(chunk)
            case .wait(let duration):
                try await sleep(duration)
                event = .waited
            case .finish:
                meter.move(to: run.offset)
                return response
            case .fail(let error):
                throw error
            }
        }
    }

    private func sleep(_ duration: Duration) async throws(NetworkError) {
        do { try await time.sleep(for: duration) } catch { throw NetworkError(error) }
    }

    /// Whether an expiration has moved so far that the descriptor should say so. Relative ones move a little with each
    /// response.
    private static func differs(_ date: Date?, _ known: Date?) -> Bool {
        guard let date, let known else { return date != known }
        return abs(date.timeIntervalSince(known)) > 60
    }
}

extension Upload.Source {
    var isStream: Bool {
        if case .stream = kind { true } else { false }
    }

    /// The path of a file; nil for other sources.
    var path: String? {
        if case .file(let path) = kind { path } else { nil }
    }
}
