// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// A source of request body bytes. libcurl reads them on the event loop's thread.
protocol Upload: AnyObject, Sendable {
    /// The exact number of bytes; nil if it is unknown, so that HTTP/1.1 sends the body in chunks.
    var length: Int64? { get }
    /// Fills `buffer` from the current position.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep
    /// Rewinds to the beginning. Returns false if the bytes cannot be produced again.
    func rewind() -> Bool
    /// Prepares the upload for a transfer. `resume` may be called from any thread when bytes are available after a
    /// `.wait`.
    func begin(resume: @escaping @Sendable () -> Void)
    /// Ends the upload. Called when its transfer has ended.
    func end()
    /// The trailers of the request, once `read` has returned `.end`.
    var trailers: HTTPHeaders { get }
    /// Reports what the upload counts. The task of the call waits for it when the exchange has ended.
    func reportAll() async
}

extension Upload {
    var trailers: HTTPHeaders { [:] }

    func reportAll() async {}
}

/// The result of reading an upload.
enum UploadStep {
    case bytes(Int)
    case end
    /// No bytes are available yet. The upload resumes the transfer when there are some.
    case wait
    case failed(NetworkError)
}

/// Creates the upload for a request, or returns nil if the request has no body. Opens the files of the body, so that a
/// missing file fails before anything is sent.
func makeUpload(for request: HTTPRequest) throws -> (any Upload)? {
    guard let upload = try makeUpload(of: request.body) else { return nil }
    // Whether the client waits for a 100 response before it sends the body (RFC 9110 §10.1.1).
    return request.headers["Expect"]?.lowercased() == "100-continue" ? ExpectingUpload(upload) : upload
}

private func makeUpload(of body: RequestBody) throws -> (any Upload)? {
    if let counted = body.counted, let upload = try makeUpload(of: counted.original) {
        return CountingUpload(upload, counted.makeCounter)
    }
    return switch body.kind {
    case .empty: nil
    case .parts(let parts): try PartsUpload(parts)
    case .file(let path): try PartsUpload([.file(path: path, offset: 0, length: -1)])
    case .stream(let length, _, let make):
        StreamUpload(length: length, trailers: body.trailers, pull: try chunks(make).makeNext)
    }
}

private func chunks(_ make: () throws -> RequestBody.Chunks) throws -> RequestBody.Chunks {
    do {
        return try make()
    } catch {
        throw NetworkError(.encoding, detail: "The body stream could not be created: \(error)", underlying: error)
    }
}

/// A request body of bytes and file ranges in sequence. Files are read directly into libcurl's buffer.
///
/// Reading a local file on the event loop's thread is deliberate: in nearly all cases it is a copy from the page cache,
/// and passing each buffer through another thread would cost more than it saves.
final class PartsUpload: Upload {
    private enum Piece: Sendable {
        case bytes(Data)
        case file(descriptor: Int32, path: String, start: Int64, length: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, _, _, let length): length
            }
        }
    }

    private struct Position {
        var index = 0
        var offset: Int64 = 0
    }

    private let pieces: [Piece]
    private let position = Locked(Position())
    let length: Int64?

    init(_ parts: [RequestBody.Part]) throws {
        var pieces: [Piece] = []
        do {
            for part in parts {
                switch part {
                case .bytes(let data): pieces.append(.bytes(data))
                case .file(let path, let offset, let length):
                    pieces.append(try Self.openFile(path, offset: offset, length: length))
                }
            }
        } catch {
            Self.closeFiles(pieces)
            throw error
        }
        self.pieces = pieces
        length = pieces.reduce(0) { $0 + $1.length }
    }

    deinit { Self.closeFiles(pieces) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        // There is no concurrent reader: the lock only proves that to the compiler.
        position.withLock { read(into: buffer, at: &$0) }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at position: inout Position) -> UploadStep {
        while position.index < pieces.count {
            let piece = pieces[position.index]
            let count = min(Int64(buffer.count), piece.length - position.offset)
            guard count > 0 else {
                position = Position(index: position.index + 1)
                continue
            }
            switch piece {
            case .bytes(let data):
                let start = data.startIndex + Int(position.offset)
                data[start..<(start + Int(count))].copyBytes(to: buffer)
                position.offset += count
                return .bytes(Int(count))
            case .file(let descriptor, let path, let start, _):
                let got = pread(descriptor, buffer.baseAddress, Int(count), off_t(start + position.offset))
                guard got > 0 else {
                    return .failed(
                        NetworkError(
                            .encoding,
                            detail: got == 0
                                ? "The file \(path) became shorter while it was sent."
                                : "The file \(path) could not be read (errno \(errno))."))
                }
                position.offset += Int64(got)
                return .bytes(got)
            }
        }
        return .end
    }

    func rewind() -> Bool {
        position.withLock { $0 = Position() }
        return true
    }

    func begin(resume: @escaping @Sendable () -> Void) {}

    /// Does nothing: the files are closed when the transfer releases the last reference to the upload.
    func end() {}

    private static func openFile(_ path: String, offset: Int64, length: Int64) throws -> Piece {
        // Without `O_NONBLOCK`, opening a named pipe would wait for its other end.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw NetworkError(
                .invalidRequest, detail: "The file to send, \(path), cannot be opened (errno \(errno)).",
                hint: "Check the path and its permissions.")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw NetworkError(.invalidRequest, detail: "The file to send, \(path), is not a regular file.")
        }
        let available = max(0, Int64(status.st_size) - offset)
        guard length <= available else {
            close(descriptor)
            throw NetworkError(.invalidRequest, detail: "The file to send, \(path), became shorter.")
        }
        return .file(descriptor: descriptor, path: path, start: offset, length: length < 0 ? available : length)
    }

    private static func closeFiles(_ pieces: [Piece]) {
        for case .file(let descriptor, _, _, _) in pieces { close(descriptor) }
    }
}
#endif
