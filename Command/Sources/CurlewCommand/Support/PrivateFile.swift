// SPDX-License-Identifier: MIT

import Curlew

/// Files that only their owner can read and write, and errors of files.
enum PrivateFile {
    /// Returns an error of the system with its text, such as that a folder does not exist.
    static func failure(_ action: String, _ path: String, _ code: Int32 = errno) -> NetworkError {
        NetworkError(
            .storage, detail: "\(path) cannot be \(action): \(String(cString: strerror(code))).",
            hint: "Check the path and its folder.")
    }

    /// Replaces a file. The content is written to another file, which then takes the name.
    static func replace(_ path: String, with data: Data) throws(NetworkError) {
        let draft = "\(path).\(UInt32.random(in: 0 ... .max)).new"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard file >= 0 else { throw failure("written", path) }
        let result = ProcessStreams.write(data, to: file)
        guard result == .complete, fsync(file) == 0, close(file) == 0, rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            if case .failed(let code) = result { throw failure("written", path, code) }
            throw failure("written", path, code)
        }
    }
}
