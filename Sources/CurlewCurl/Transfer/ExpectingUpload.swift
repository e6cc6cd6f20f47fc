// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The upload of a request with `Expect: 100-continue`, whose body is sent only when the server is ready for it (RFC
/// 9110 §10.1.1).
///
/// libcurl could wait itself, but would send the request again after a 417 and drop the server's response. So the
/// expectation is hidden from libcurl; see `EasyHandle.setHeaders`.
final class ExpectingUpload: Upload {
    /// The timeout for the 100 response, after which the body is sent anyway, as most clients do for servers that do
    /// not support expectations.
    static let patience = Duration.seconds(1)

    private enum Gate {
        case closed(resume: (@Sendable () -> Void)?)
        case waiting(resume: (@Sendable () -> Void)?, timer: Task<Void, Never>)
        case open
    }

    private let upload: any Upload
    private let gate = Locked(Gate.closed(resume: nil))
    var length: Int64? { upload.length }
    var trailers: HTTPHeaders { upload.trailers }

    init(_ upload: any Upload) {
        self.upload = upload
    }

    func begin(resume: @escaping @Sendable () -> Void) {
        gate.withLock { $0 = .closed(resume: resume) }
        upload.begin(resume: resume)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        let isOpen = gate.withLock { gate -> Bool in
            switch gate {
            case .open: return true
            case .waiting: return false
            case .closed(let resume):
                let timer = Task {
                    try? await SystemTime().sleep(for: Self.patience)
                    if !Task.isCancelled { permit() }
                }
                gate = .waiting(resume: resume, timer: timer)
                return false
            }
        }
        return isOpen ? upload.read(into: buffer) : .wait
    }

    /// Allows the body to be sent: after a 100 response, after a final response head, or when `patience` has passed.
    func permit() {
        let resume = gate.withLock { gate -> (@Sendable () -> Void)? in
            defer { gate = .open }
            guard case .waiting(let resume, let timer) = gate else { return nil }
            timer.cancel()
            return resume
        }
        resume?()
    }

    /// Rewinds the body. The gate stays as it is: while it is closed, nothing of the body has been read, and a 100
    /// response applies to the complete request.
    func rewind() -> Bool { upload.rewind() }

    func end() {
        gate.withLock { gate in
            if case .waiting(_, let timer) = gate { timer.cancel() }
            gate = .open
        }
        upload.end()
    }

    func reportAll() async { await upload.reportAll() }
}
#endif
