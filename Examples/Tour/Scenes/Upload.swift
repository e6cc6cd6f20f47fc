// SPDX-License-Identifier: MIT

import Curlew

private struct Receipt: Decodable {
    let fileName, mediaType, checksum: String
    let bytes: Int
    let fields: [String]
}

extension Request {
    fileprivate static func uploadAvatar(path: String, of member: Int) -> Request<Receipt> {
        .post(
            "/team/users/\(member)/avatar",
            body: .multipart([.field("caption", "By the sea"), .file("avatar", path: path)]))
    }
}

struct Upload: Scene {
    let title = "Upload"
    let about = "A field and a file in one form. The file is read from disk while it is sent."

    func run(on stage: Stage) async throws {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = FileManager.default.temporaryDirectory.appending(path: "tour-\(UUID().uuidString).jpg")
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let receipt = try await stage.client.send(.uploadAvatar(path: file.path, of: 1))
        stage.show("received", "\(receipt.bytes) bytes, \(receipt.mediaType), \(receipt.fileName)")
        stage.expect(
            receipt.fileName == file.lastPathComponent && receipt.fields == ["caption"], "file and field arrived")
        stage.expect(receipt.bytes == content.count && receipt.checksum == "\(CRC32(content))", "byte for byte")
    }
}
