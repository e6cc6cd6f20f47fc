// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call of `upload` or `resume`: the machines of all parts, and the descriptor.
struct UploadSession: Sendable {
    let client: APIClient
    let route: any Route
    let source: Upload.Source
    let options: Upload.Options
    let progress: TransferProgress.Handler?
    let store: UploadStore
    let claim = UploadClaim()

    init(
        _ client: APIClient, _ route: any Route, _ source: Upload.Source, _ options: Upload.Options,
        _ progress: TransferProgress.Handler?
    ) throws(NetworkError) {
        guard route.content.mediaType == nil else {
            throw NetworkError(
                .invalidRequest, detail: "The request of an upload has a body of its own.",
                hint: "Pass the content as the source of the upload.")
        }
        self.client = client
        self.route = route
        self.source = source
        self.options = options
        self.progress = progress
        store = try UploadStore(options.storage, path: source.path)
        if let file = store.file { try claim.add(file: file) }
    }

    /// Begins the upload, or continues one that an earlier call has left.
    func upload() async throws(NetworkError) -> Upload.Result {
        defer { claim.release() }
        let endpoint = try client.request(for: endpointRequest).urlString
        let earlier = try store.load()
        let (length, fingerprint) = try facts(comparing: earlier)
        if let earlier, earlier.endpoint == endpoint, earlier.isOf(length: length, fingerprint),
            options.resumption == .discovered || options.resumption == earlier.resumption
        {
            return try await run(earlier)
        }
        let metadata = try UploadMetadata(options, path: source.path)
        let meter = UploadMeter(progress, parts: 1, total: length, time: client.configuration.time)
        let shell = UploadShell(client, route, options, meter)
        let dialect: any UploadDialect
        var features = UploadFeatures(extensions: ["concatenation"])
        switch options.resumption {
        case .tus: (dialect, features.checksum) = (TusDialect(), .sha1)
        case .draft: (dialect, features.checksum) = (DraftDialect(), .sha256)
        case .discovered:
            if let offered = try await shell.discover() {
                (dialect, features) = offered
            } else {
                return try await plain(shell, metadata, length)
            }
        }
        return try await run(
            Upload.Descriptor(
                endpoint: endpoint, method: route.method.rawValue, resumption: dialect.resumption, path: source.path,
                length: length, fingerprint: fingerprint, parts: parts(length, dialect, features),
                checksum: features.checksum?.rawValue, metadata: metadata),
            features)
    }

    /// Continues the upload of a descriptor, or begins it anew if the source has changed.
    func resume(_ descriptor: Upload.Descriptor) async throws(NetworkError) -> Upload.Result {
        defer { claim.release() }
        let (length, fingerprint) = try facts(comparing: descriptor)
        if descriptor.isOf(length: length, fingerprint) { return try await run(descriptor) }
        var anew = Upload.Descriptor(
            endpoint: descriptor.endpoint, method: descriptor.method, resumption: descriptor.resumption,
            path: source.path, length: length, fingerprint: fingerprint, parts: [],
            checksum: descriptor.checksum, metadata: descriptor.metadata)
        anew.parts = [Upload.Descriptor.Part(url: nil, offset: 0, length: length)]
        return try await run(anew)
    }

    private func run(
        _ descriptor: Upload.Descriptor, _ features: UploadFeatures? = nil
    ) async throws(NetworkError) -> Upload.Result {
        for url in descriptor.urls { try claim.add(url) }
        let meter = UploadMeter(
            progress, parts: descriptor.parts.count, total: descriptor.length, time: client.configuration.time)
        defer { meter.end() }
        let shell = UploadShell(client, route, options, meter)
        let record = UploadRecord(descriptor, store, claim)
        var plan = UploadPlan(metadata: descriptor.metadata)
        plan.method = HTTPMethod(rawValue: descriptor.method)
        plan.features = features ?? UploadFeatures()
        plan.features.checksum = descriptor.checksum.flatMap { UploadChecksum(rawValue: $0) }
        let isBuffered = options.checksums || source.isStream
        plan.chunkSize = options.chunkSize.map { max(1, $0) } ?? (isBuffered ? Upload.Options.bufferedChunk : nil)
        plan.bufferLimit = isBuffered ? Upload.Options.largestBuffer : nil
        plan.maximumFailures = max(0, options.maximumFailures)
        plan.maximumWait = max(.zero, options.maximumWait)
        let result =
            descriptor.parts.count == 1
            ? try await whole(plan, record, shell) : try await joined(plan, record, shell)
        store.remove()
        return result
    }

    private func whole(
        _ plan: UploadPlan, _ record: UploadRecord, _ shell: UploadShell
    ) async throws(NetworkError) -> Upload.Result {
        let descriptor = await record.descriptor
        let reader = try UploadReader(source)
        var plan = plan
        plan.length = reader.length
        plan.defersLength = reader.length == nil
        var course = UploadCourse(
            descriptor.dialect, plan, url: descriptor.parts[0].url, expires: descriptor.expires,
            usesChecksums: options.checksums)
        let response = try await shell.run(&course, reader, part: 0) { course throws(NetworkError) in
            try await record.update(0, course)
        }
        try reader.check()
        return Upload.Result(url: course.url, length: course.offset, response: response)
    }

    /// Uploads the parts concurrently, then joins them.
    private func joined(
        _ plan: UploadPlan, _ record: UploadRecord, _ shell: UploadShell
    ) async throws(NetworkError) -> Upload.Result {
        let descriptor = await record.descriptor
        let failure = await withTaskGroup(of: NetworkError?.self) { group in
            for (index, part) in descriptor.parts.enumerated() {
                group.addTask { [self] in
                    do throws(NetworkError) {
                        try await upload(part, index, plan, record, shell)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            var first: NetworkError?
            for await error in group {
                guard let error, first == nil else { continue }
                first = error
                group.cancelAll()
            }
            return first
        }
        if let failure { throw failure }
        var plan = plan
        plan.role = .join(await record.descriptor.urls)
        var course = UploadCourse(descriptor.dialect, plan)
        let response: Response<Data>?
        do throws(NetworkError) {
            response = try await shell.run(&course, nil, part: 0) { _ in }
        } catch {
            // The parts are gone, perhaps because an earlier request joined them: nothing is left to resume.
            guard error.isNotFound else { throw error }
            store.remove()
            var failure = error
            failure.hint = "The server may have joined the parts already. Check, or begin a new upload."
            throw failure
        }
        return Upload.Result(url: course.url, length: descriptor.length ?? 0, response: response)
    }

    private func upload(
        _ part: Upload.Descriptor.Part, _ index: Int, _ plan: UploadPlan, _ record: UploadRecord, _ shell: UploadShell
    ) async throws(NetworkError) {
        let descriptor = await record.descriptor
        let reader = try UploadReader(source, range: part.offset..<part.offset + max(0, part.length ?? 0))
        var plan = plan
        plan.role = .part
        plan.length = reader.length
        var course = UploadCourse(
            descriptor.dialect, plan, url: part.url, expires: descriptor.expires, usesChecksums: options.checksums)
        _ = try await shell.run(&course, reader, part: index) { course throws(NetworkError) in
            try await record.update(index, course)
        }
        try reader.check()
    }

    private func plain(
        _ shell: UploadShell, _ metadata: UploadMetadata, _ length: Int64?
    ) async throws(NetworkError) -> Upload.Result {
        guard options.allowsPlain else {
            throw NetworkError(
                .badResponse, detail: "The server offers no protocol for resumable uploads at this URL.",
                hint: "Name the protocol with options.resumption, or set options.allowsPlain.")
        }
        defer { shell.meter.end() }
        let response = try await shell.plain(source, metadata)
        return Upload.Result(url: nil, length: length ?? shell.meter.completed, response: response)
    }
}

extension UploadSession {
    private var endpointRequest: Request<Void> {
        var request = Request<Void>(route.method, route.path, query: route.query, name: route.name)
        request.baseURL = route.baseURL
        return request
    }

    /// Returns the length of the source and what identifies its content.
    private func facts(
        comparing earlier: Upload.Descriptor?
    ) throws(NetworkError) -> (Int64?, Upload.Fingerprint) {
        switch source.kind {
        case .file(let path):
            let file = try UploadFile(path)
            let readsContent = options.comparesContent || earlier?.fingerprint.digest != nil
            return (file.length, try file.fingerprint(readingContent: readsContent))
        case .data(let data):
            return (Int64(data.count), Upload.Fingerprint(digest: MessageDigest.sha256(data).hexText))
        case .stream(let length, _): return (length, Upload.Fingerprint())
        case .refused(let problem): throw problem
        }
    }

    /// Divides the source into parts of about the same size, none of them empty.
    private func parts(
        _ length: Int64?, _ dialect: any UploadDialect, _ features: UploadFeatures
    ) -> [Upload.Descriptor.Part] {
        var count: Int64 = 1
        if !source.isStream, let length, dialect.resumption == .tus, features.extensions.contains("concatenation") {
            count = max(1, min(Int64(options.parallelParts), Int64(Upload.Options.mostParts), length))
        }
        guard let length, count > 1 else { return [Upload.Descriptor.Part(url: nil, offset: 0, length: length)] }
        let size = length / count
        return (0..<count).map { index in
            let start = index * size
            return Upload.Descriptor.Part(
                url: nil, offset: start, length: index == count - 1 ? length - start : size)
        }
    }
}

/// The descriptor of a running upload, which the machines of several parts change.
actor UploadRecord {
    private(set) var descriptor: Upload.Descriptor
    private let store: UploadStore
    private let claim: UploadClaim

    init(_ descriptor: Upload.Descriptor, _ store: UploadStore, _ claim: UploadClaim) {
        self.descriptor = descriptor
        self.store = store
        self.claim = claim
    }

    /// Keeps what the machine of a part has learnt.
    func update(_ part: Int, _ course: UploadCourse) throws(NetworkError) {
        if let url = course.url { claim.addCreated(url) }
        descriptor.parts[part].url = course.url
        descriptor.expires = course.expires ?? descriptor.expires
        try store.save(descriptor)
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
