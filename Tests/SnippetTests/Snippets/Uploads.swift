// SPDX-License-Identifier: MIT

import Curlew
import Foundation

// Uploads, plain and resumable.

enum UploadsPage {
    static func first(_ client: APIClient, _ path: String) async throws -> Upload.Result {
        let options = Upload.Options(storage: .besideSource)
        let upload = try await client.upload(.file(path), to: .post("/files"), options: options)

        return upload
    }

    static func plain(_ client: APIClient, _ path: String) async throws {
        let photo = RequestContent.file(path).reporting { progress in print(progress) }
        try await client.send(Request<Void>.post("/photos", body: photo))
    }

    static func resumable(_ client: APIClient, _ path: String) async throws -> Upload.Result {
        var options = Upload.Options(.tus, chunkSize: 8 << 20)
        options.fileName = "film.mp4"
        options.metadata = ["album": "Holidays"]
        let upload = try await client.upload(.file(path), to: .post("/files"), options: options) { progress in
            print(progress)  // never decreases, also after a cut
        }

        return upload
    }

    static func kept(_ client: APIClient, _ path: String) async throws {
        if let descriptor = try Upload.Descriptor.saved(besideFile: path) {
            try await client.resume(descriptor)  // or client.discard(descriptor)
        }
    }
}
