// SPDX-License-Identifier: MIT

import Curlew

// Downloads to files.

extension Request {
    fileprivate static var export: Request<Data> { .get("/export") }
    fileprivate static var film: Request<Data> { .get("/film") }
}

enum DownloadsPage {
    struct Film {
        var id = 7
    }

    struct Release {
        var sha256 = ""
    }

    struct Signer: Sendable {
        func signedURL(of film: Film) async throws -> String { "https://media.example/film?signature=\(film.id)" }
    }

    struct Screen {
        func show(_ progress: TransferProgress) {}
    }

    static func first(_ client: APIClient, _ path: String) async throws -> FileDownload.File {
        let saved = try await client.download(.export, to: path) { progress in
            print(progress)  // 42 %, 12.6 MB of 30 MB, 3.1 MB/s, 6 s left
        }
        print(saved.value.path, saved.value.byteCount, saved.status)

        return saved.value
    }

    static func named(_ client: APIClient, _ folder: String) async throws -> FileDownload.File {
        let options = FileDownload.Options(existing: .keepBoth)
        let saved = try await client.download(.export, to: folder + "/", options: options)

        return saved.value
    }

    static func paused(_ client: APIClient, _ path: String) async throws {
        let task = Task { try await client.download(.film, to: path) }
        task.cancel()  // pause
        _ = await task.result
        try await client.download(.film, to: path)  // goes on, also after a restart
    }

    static func signed(_ client: APIClient, _ api: Signer, _ film: Film, _ path: String) async throws {
        var options = FileDownload.Options(resumeKey: "film-\(film.id)")
        options.renewing = { Request<Data>.get(url: try await api.signedURL(of: film)) }
        let url = try await api.signedURL(of: film)
        try await client.download(Request<Data>.get(url: url), to: path, options: options)
    }

    static func checksum(_ release: Release) -> FileDownload.Options {
        let options = FileDownload.Options(checksum: .sha256(release.sha256))

        return options
    }

    static func progress(_ client: APIClient, _ bar: Screen, _ path: String) async throws {
        let updates = TransferProgress.Updates()
        async let saved = client.download(.film, to: path, progress: updates.handler)
        for await progress in updates { bar.show(progress) }
        _ = try await saved
    }
}
