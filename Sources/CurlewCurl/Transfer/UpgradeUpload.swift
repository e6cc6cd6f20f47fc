// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The bytes that the client sends after the server has switched to another protocol (RFC 9110 §7.8).
///
/// To libcurl, the exchange is a GET with a body of unknown length and without framing, and the bytes from the server
/// are the body of the 101 response, which ends with the connection. All versions support this, including those that
/// were built without WebSocket, and the request uses the proxy, the TLS settings and the timeouts of any other
/// request. See Decision 0025.
final class UpgradeUpload: Upload {
    private let output: OutgoingBytes
    /// Whether no more bytes are sent: the server has refused to switch, or has ended the connection.
    private let isOver = Locked(false)

    init(_ output: OutgoingBytes) {
        self.output = output
    }

    var length: Int64? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        if isOver.withLock({ $0 }) { return .end }
        return switch output.read(into: buffer) {
        case .bytes(let count): .bytes(count)
        case .end: .end
        case .wait: .wait
        }
    }

    /// Ends the upload, because the response is not a 101, or because the server has ended the connection.
    func endSending() { isOver.withLock { $0 = true } }

    /// Returns true: nothing is written to the buffer before the 101 response.
    func rewind() -> Bool { true }

    func begin(resume: @escaping @Sendable () -> Void) { output.attach(resume: resume) }

    func end() { output.detach() }
}
#endif
