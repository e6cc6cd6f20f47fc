// SPDX-License-Identifier: MIT

import Curlew
import Dispatch

/// The standard streams of this process.
enum ProcessStreams {
    /// Opens the null device for standard streams that the parent has closed. Without this, the next file or socket
    /// would become a standard stream, and would receive the output. Call it first.
    static func open() {
        for stream: Int32 in 0...2 where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // The descriptors below are in use, so the device receives this one. It is only readable: writing to a
            // closed stream remains an error.
            _ = systemOpen("/dev/null", O_RDONLY)
        }
    }

    /// Returns the next piece of the standard input; nil at its end. Throws `CancellationError` when the task is
    /// cancelled, although a read that blocks cannot be.
    static func read() async throws -> Data? {
        let pending = PendingRead()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard pending.begin(continuation) else { return }
                // After a cancellation, this thread is left behind.
                DispatchQueue.global().async { pending.end(with: Result { try readInput() }) }
            }
        } onCancel: {
            pending.end(with: .failure(CancellationError()))
        }
    }

    private static func readInput() throws -> Data? {
        if let piece = readBlocking(0) { return piece.isEmpty ? nil : piece }
        // A parent that closes the stream means that there is no input.
        if errno == EBADF { return nil }
        throw PrivateFile.failure("read", "The standard input")
    }

    /// Writes all bytes to a descriptor. Waits if it is not ready, as a pipe that another program made non-blocking.
    static func write(_ data: Data, to file: Int32) -> CommandIO.WriteResult {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(file, UnsafeRawBufferPointer(rebasing: rest))
                if count >= 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
                let code = errno
                switch code {
                case EINTR: continue
                case EAGAIN, EWOULDBLOCK:
                    var ready = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, -1)
                case EPIPE, EBADF: return .closed
                default: return .failed(code)
                }
            }
            return .complete
        }
    }

    /// Returns the content of a file. Waits for the writer of a named pipe. Throws if there are more than `limit`
    /// bytes.
    static func contents(of path: String, limit: Int) throws(NetworkError) -> Data {
        let file = systemOpen(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw PrivateFile.failure("read", path) }
        defer { close(file) }
        var data = Data()
        while true {
            guard let piece = readBlocking(file) else { throw PrivateFile.failure("read", path) }
            if piece.isEmpty { return data }
            data.append(piece)
            guard data.count <= limit else { throw PrivateFile.failure("read", path, EFBIG) }
        }
    }

    /// Writes to a file that is not a regular one, such as a named pipe or a device. Returns false if it is a regular
    /// file, or if there is none.
    static func writeToDevice(_ path: String, _ data: Data) throws(NetworkError) -> Bool {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT != S_IFREG,
            information.st_mode & S_IFMT != S_IFDIR
        else { return false }
        let file = systemOpen(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw PrivateFile.failure("written", path) }
        defer { close(file) }
        switch write(data, to: file) {
        case .complete: return true
        case .closed: throw PrivateFile.failure("written", path, EPIPE)
        case .failed(let code): throw PrivateFile.failure("written", path, code)
        }
    }

    /// Reads at most 64 KiB: no bytes at the end. Returns nil on a failure; `errno` then has the reason.
    private static func readBlocking(_ file: Int32) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = systemRead(file, &buffer)
            if count >= 0 { return Data(buffer[..<count]) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK:
                var ready = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
                _ = poll(&ready, 1, -1)
            default: return nil
            }
        }
    }
}

// The functions of the system, whose names are those of functions above.

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

private func systemRead(_ file: Int32, _ buffer: inout [UInt8]) -> Int { read(file, &buffer, buffer.count) }

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

/// A read that ends with its data or with the cancellation of the task, whichever is first.
private final class PendingRead: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Data?, any Error>?
        var hasEnded = false
    }

    private let state = Locked(State())

    /// Returns false if the read has already ended; the continuation is then resumed.
    func begin(_ continuation: CheckedContinuation<Data?, any Error>) -> Bool {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.continuation = continuation }
            return state.hasEnded
        }
        if hasEnded { continuation.resume(throwing: CancellationError()) }
        return !hasEnded
    }

    func end(with result: Result<Data?, any Error>) {
        let continuation = state.withLock { state in
            state.hasEnded = true
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
