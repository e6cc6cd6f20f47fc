// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

// What libcurl calls while it works, always on the agent's thread. The context is the transfer, which the agent's table
// keeps alive for as long as its handle is in use.

func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
}

func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
}

func sendBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return Int(CURL_READFUNC_ABORT) }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.sendBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }
}

func rewindBody(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let context else { return Int32(CURL_SEEKFUNC_FAIL) }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef { transfer in
        // libcurl goes back to the beginning only to send the request again. For work that must not happen twice the
        // answer is no, and the transfer ends as a lost connection.
        guard offset == 0, origin == SEEK_SET, transfer.mayRepeat, transfer.upload?.rewind() == true else {
            return Int32(CURL_SEEKFUNC_FAIL)
        }
        return Int32(CURL_SEEKFUNC_OK)
    }
}

/// Makes sockets that a started program does not inherit; libcurl 7.88 does not see to that itself.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address = address?.pointee else { return -1 }
    return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
}

extension Transfer {
    fileprivate func receiveHeader(_ line: UnsafeRawBufferPointer) -> Int {
        if isDiscarding { return line.count }
        touch()
        guard head.receive(line) else {
            failure = NetworkError(
                .limitExceeded(.responseHeaders),
                detail: "The response head is larger than \(context.limits.headerBytes) bytes or has more than "
                    + "\(context.limits.headerCount) fields.",
                hint: "Raise options.limits.headerBytes or headerCount for this call.")
            return 0
        }
        if head.isComplete, !clock.hasHead {
            clock.hasHead = true
            clock.isSending = false
            let isLarge = (head.contentLength ?? 0) > Int64(smallBody)
            if context.options.streaming || (isLarge && request.method != .head) {
                stream()
            } else if let length = head.contentLength, length > 0, length <= Int64(smallBody) {
                buffered.reserveCapacity(Int(length))
            }
        }
        return line.count
    }

    fileprivate func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isDiscarding { return bytes.count }
        touch()
        if pipe == nil {
            guard buffered.count + bytes.count > smallBody else {
                buffered.append(contentsOf: bytes)
                return bytes.count
            }
            stream()
        }
        guard let pipe, !pipe.offer(bytes) else { return bytes.count }
        isReceivePaused = true
        clock.isHeldByUs = true
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    fileprivate func sendBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let upload, !isDiscarding else { return Int(CURL_READFUNC_ABORT) }
        touch()
        switch upload.read(into: buffer) {
        case .bytes(let count):
            return count
        case .end:
            clock.isSending = false
            return 0
        case .wait:
            isSendPaused = true
            clock.isHeldByUs = true
            return Int(CURL_READFUNC_PAUSE)
        case .failed(let error):
            failure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// From here on the body goes through a pipe, and the caller gets the response before its end.
    private func stream() {
        pipe = BodyPipe(self, first: takeBuffered(), capacity: owner.configuration.bodyBuffer)
        agent.noteHead(of: self)
    }

    private func touch() {
        clock.lastActivity = agent.turnStart
    }
}
#endif
