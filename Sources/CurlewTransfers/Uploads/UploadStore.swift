// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Stores the descriptor of one upload where the options specify.
struct UploadStore: Sendable {
    private static let maximumBytes = 256 << 10

    /// The file of the descriptor; nil if no file has it.
    let file: String?

    init(file: String?) { self.file = file }

    /// The file beside the source at `path`.
    init(besideFile path: String) { file = path + ".curlew-upload" }

    init(_ storage: Upload.Options.Storage, path: String?) throws(NetworkError) {
        switch storage {
        case .none: self.init(file: nil)
        case .file(let path): self.init(file: path)
        case .besideSource:
            guard let path else {
                throw NetworkError(
                    .invalidRequest, detail: "The storage .besideSource needs a file as the source.",
                    hint: "Use the storage .file(path) instead.")
            }
            self.init(besideFile: path)
        }
    }

    /// Returns the descriptor of an earlier call; nil if there is none, or if it cannot be decoded.
    func load() throws(NetworkError) -> Upload.Descriptor? {
        guard let file else { return nil }
        do {
            // A descriptor of another user could send the content elsewhere.
            let data = try PrivateFile.read(file, limit: Self.maximumBytes, trusting: .ownerAlone)
            var descriptor = try? JSONDecoder().decode(Upload.Descriptor.self, from: data)
            guard descriptor?.isValid == true else { return nil }
            descriptor?.file = file
            return descriptor
        } catch {
            if error.isMissing { return nil }
            throw NetworkError(.storage, detail: error.description, hint: error.hint)
        }
    }

    func save(_ descriptor: Upload.Descriptor) throws(NetworkError) {
        guard let file else { return }
        do {
            try PrivateFile.replace(file, with: try JSONEncoder().encode(descriptor), isDurable: true, isAlone: true)
        } catch {
            throw NetworkError(
                .storage, detail: "The descriptor of the upload cannot be kept: \(error)",
                hint: "Check the folder and its permissions, or use another options.storage.")
        }
    }

    /// Removes the descriptor, and the draft that a killed process may have left.
    func remove() {
        guard let file else { return }
        try? PrivateFile.remove(PrivateFile.draft(of: file))
        try? PrivateFile.remove(file)
    }
}
