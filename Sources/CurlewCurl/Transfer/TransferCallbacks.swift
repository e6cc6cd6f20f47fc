// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

// Functions that libcurl calls on the event loop's thread. Their context is the handle, whose transfer the multi handle
// keeps alive while the transfer is active.

/// Calls `body` with the transfer of the handle that is the context of a callback. Returns `otherwise` if there is none.
func withTransfer<Result>(
    _ context: UnsafeMutableRawPointer?, otherwise: Result, _ body: (Transfer) -> Result
) -> Result {
    guard let context else { return otherwise }
    return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer.map(body) } ?? otherwise
}

func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    withTransfer(context, otherwise: 0) { $0.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) }
}

func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    withTransfer(context, otherwise: 0) { $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) }
}

func sendBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    withTransfer(context, otherwise: Int(CURL_READFUNC_ABORT)) {
        $0.sendBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }
}

/// Called only to send the request again: libcurl seeks to the beginning.
func rewindBody(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    withTransfer(context, otherwise: Int32(CURL_SEEKFUNC_FAIL)) {
        offset == 0 && origin == SEEK_SET && $0.mayRepeatRequest() ? Int32(CURL_SEEKFUNC_OK) : Int32(CURL_SEEKFUNC_FAIL)
    }
}

/// Called when libcurl is about to look up a name. A result other than 0 ends the transfer instead.
func beginLookup(
    _ state: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    withTransfer(context, otherwise: 1) { $0.mayResolve() ? 0 : 1 }
}

/// Called each time that libcurl is about to send the request on an open connection.
func beginRequest(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    withTransfer(context, otherwise: Int32(CURL_PREREQFUNC_ABORT)) {
        let mayBegin = $0.beginRequest(on: ConnectionName(local, localPort, remote, remotePort))
        return Int32(mayBegin ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
    }
}

extension Transfer {
    var now: Int64 { loop?.now ?? TimeoutTracker.now() }
    private var memory: BodyMemory { loop?.memory ?? BodyMemory() }

    fileprivate func receiveHeader(_ line: UnsafeRawBufferPointer) -> Int {
        if state.isDiscarding { return line.count }
        clock.lastActivity = now
        sent.receive()
        guard received.head.receive(line, loop?.fields) else { return fail(headLimitFailure) }
        if received.head.status == 100 { plan.expectation?.permit() }
        if plan.context.isObserved, let (status, headers) = received.head.takeInterim() {
            carrier?.add(.event(self, .interim(status, headers)))
        }
        guard received.head.isComplete, !received.hasHead else { return line.count }
        guard multi?.hasOwnResponse(self) ?? true else { return fail(MixedVersions.error) }
        guard !received.head.content.hasBadLength else {
            return fail(
                NetworkError(
                    .badResponse,
                    detail: "The length of the response is unknown: Content-Length is not a single number, or a field "
                        + "that determines the length is folded."))
        }
        multi?.noteVersion(of: self)
        return finishHead() ? line.count : 0
    }

    /// Records why a callback fails. Returns the result of the callback, with which libcurl ends the transfer.
    private func fail(_ error: NetworkError) -> Bool { state.take(.fail(error)) && false }
    private func fail(_ error: NetworkError) -> Int { fail(error) ? 1 : 0 }

    var headLimitFailure: NetworkError {
        NetworkError(
            .limitExceeded(.responseHeaders),
            detail: "The response head is larger than \(plan.context.limits.headerBytes) bytes or has more than "
                + "\(plan.context.limits.headerCount) fields.",
            hint: "Raise options.limits.headerBytes or headerCount for this call.")
    }

    /// Whether the response is delivered without waiting for its body, because it is a redirect or a challenge.
    private var handsOverNow: Bool {
        received.head.status.isPrelude && plan.request.method != .head && declaredLength != 0
    }

    /// Processes the complete head. Returns false if the response cannot be received.
    func finishHead() -> Bool {
        guard !plan.decodesContent || !received.head.content.hasTooManyCodings else {
            return fail(NetworkError(.badResponse, detail: "The response has more than five content codings."))
        }
        received.hasHead = true
        clock.receive(at: now)
        carrier?.noteDeadline(of: self)
        let length = declaredLength ?? 0
        // A body that exceeds the reader's limit is not gathered.
        if plan.streams || length > min(Int64(smallBody), plan.bodyLimit) || handsOverNow { stream() }
        if received.head.status != 101 { plan.upgrade?.endSending() }
        if isRefusedEarly { carrier?.add(.resumeRefused(self)) } else { plan.expectation?.permit() }
        return true
    }

    /// Receives bytes of the body. Returns their number, `CURL_WRITEFUNC_PAUSE` if they must be delivered again when
    /// the transfer resumes, or 0 if it has failed.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if state.isDiscarding { return bytes.count }
        clock.lastActivity = now
        guard plan.decodesContent, let codings = received.head.codings else { return take(bytes) }
        guard let decoder = received.decoder ?? ContentDecoder(codings) else {
            return fail(
                NetworkError(.limitExceeded(.responseBody), detail: "There is not enough memory to decode the body."))
        }
        received.decoder = decoder
        return take(bytes, decodedBy: decoder)
    }

    /// Decodes `bytes` piece by piece as long as the reader has capacity. If libcurl delivers bytes again, because it
    /// was paused within them, the bytes that have already been decoded are skipped.
    private func take(_ bytes: UnsafeRawBufferPointer, decodedBy decoder: ContentDecoder) -> Int {
        var start = min(decoder.ahead, bytes.count)
        while true {
            guard received.takesAll || received.pipe?.hasRoom() ?? true else {
                decoder.ahead = max(start, decoder.ahead)
                return hold()
            }
            guard let (piece, taken) = decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[start...])) else {
                return fail(NetworkError(.badResponse, detail: "The body does not match its Content-Encoding."))
            }
            start += taken
            if decoder.needsInput, piece.isEmpty { break }
            if let failure = growthFailure(decoder) { return fail(failure) }
            guard piece.isEmpty || take(piece, isForced: true) == piece.count else { return 0 }
        }
        decoder.ahead = max(0, decoder.ahead - bytes.count)
        return bytes.count
    }

    /// Returns the error if the body has grown too much while it was decoded, or nil if it has not. Part of a body may
    /// be compressed better than the complete body, so the bytes that libcurl may have buffered count as if the decoder
    /// had consumed them. The check begins at 1 MiB of output.
    private func growthFailure(_ decoder: ContentDecoder) -> NetworkError? {
        let decoded = max(decoder.decoded, decoder.between)
        guard decoded > 1 << 20 else { return nil }
        let coded = min(
            decoder.coded + Int64(easy?.current.room ?? DirectConnections.room), received.head.content.length ?? .max)
        return plan.context.limits.growthFailure(decoded: decoded, coded: coded)
    }

    private func take(_ bytes: UnsafeRawBufferPointer, isForced: Bool = false) -> Int {
        if isRefusedEarly { carrier?.add(.resumeRefused(self)) }
        if received.pipe == nil {
            guard received.gathered.count + bytes.count > smallBody else {
                received.gathered.append(bytes, of: declaredLength, memory: memory)
                return bytes.count
            }
            stream()
        }
        switch received.pipe?.offer(bytes, isForced: isForced || received.takesAll) {
        case .due:
            if !received.isDue { carrier?.add(.body(self)) }
            received.isDue = true
            return bytes.count
        case .pause: return hold()
        default: return bytes.count
        }
    }

    /// Pauses the transfer. libcurl delivers the current bytes again when the reader has made room.
    private func hold() -> Int {
        carrier?.noteHeld(self)
        state.take(.pause(.receiving))
        carrier?.suspendReceiving(of: self)
        clock.isHeld = true
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    /// Notes that libcurl waits for nothing at the socket. If neither direction is paused by the caller, the server has
    /// ended the connection after a switch of protocols, and libcurl waits only for the end of the upload.
    func noteSilence() {
        guard plan.upgrade != nil, received.hasHead, isSendingPaused, !isReceivingPaused else { return }
        carrier?.add(.endUpgrade(self))
    }

    fileprivate func sendBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let upload = plan.upload, !state.isDiscarding else { return Int(CURL_READFUNC_ABORT) }
        clock.lastActivity = now
        switch upload.read(into: buffer) {
        case .bytes(let count):
            sent.bodyBytes += Int64(count)
            if clock.send(at: now) { carrier?.noteDeadline(of: self) }
            // libcurl does not request the end of a body whose length it knows.
            if sent.bodyBytes == upload.length { finishSending() }
            return count
        case .end:
            finishSending()
            return 0
        case .wait:
            carrier?.noteHeld(self)
            state.take(.pause(.sending))
            // An upgrade has nothing to send before the response, which the usual timeout for the head limits.
            clock.isHeld = plan.upgrade == nil
            return Int(CURL_READFUNC_PAUSE)
        case .failed(let error):
            state.take(.fail(error))
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func finishSending() {
        clock.awaitHead(at: now)
        carrier?.noteDeadline(of: self)
    }

    /// Returns whether libcurl may look up the name itself. If not, the event loop looks it up. An address needs no
    /// lookup, and libcurl resolves `localhost` itself.
    ///
    /// libcurl also looks up the name itself if it repeats a request. If such a transfer were removed and started
    /// again, libcurl would lose the information that bytes have been sent, and could repeat a request that must not be
    /// sent twice.
    fileprivate func mayResolve() -> Bool {
        guard connection.lookupTime == nil, sent.attempts == 0, let name = easy?.target(for: self)?.host,
            name != "localhost", IPAddress(name) == nil
        else { return true }
        return !state.take(.needName(name))
    }

    /// Returns whether libcurl may send the request on this connection. Called each time that libcurl sends it: libcurl
    /// repeats a request if a reused connection ends before the first byte of a response.
    fileprivate func beginRequest(on name: @autoclosure () -> ConnectionName?) -> Bool {
        sent.begin(measuring: plan.upload != nil)
        if sent.attempts == 1, !plan.mayRepeat, let easy {
            sent.beganOnNewConnection = curlew_info_long(easy.pointer, CURLINFO_NUM_CONNECTS) > 0
        }
        if let refusal = easy?.uncheckedPath(of: self) { return fail(refusal) }
        if sent.attempts > 1 { multi?.mayHaveBroken = true }
        guard sent.attempts == 1 || mayRepeatRequest() else { return false }
        if sent.attempts == EasyHandle.reusesBeforeOpening { easy?.openNextConnection() }
        let name = name()
        clock.connected(at: now)
        noteReady(on: name, localAddress: easy?.localAddress)
        guard let multi, MixedVersions.areWatched(in: self) else { return true }
        return multi.loop.mixedVersions.enter(self, name, of: multi) || fail(MixedVersions.error)
    }

    /// Returns whether libcurl may send the request again, and rewinds the body. Repeating the request must be
    /// harmless, or none of it may have been sent.
    fileprivate func mayRepeatRequest() -> Bool {
        let hasLeft = easy.map { curlew_info_long($0.pointer, CURLINFO_REQUEST_SIZE) > 0 } ?? true
        guard !state.isDiscarding, plan.mayRepeat || !hasLeft, plan.upload?.rewind() ?? true else {
            return fail(repetitionFailure(hasLeft: hasLeft))
        }
        sent.bodyBytes = 0
        finishSending()
        return true
    }

    /// Returns the error for a request that is not sent again. Its reason says whether the request may have arrived.
    private func repetitionFailure(hasLeft: Bool) -> NetworkError {
        // On a new connection libcurl repeats only if the server has refused the stream, or named an earlier stream as
        // the last one in its GOAWAY (RFC 9113 §8.7). On a reused connection it does not report the reason.
        if sent.beganOnNewConnection, !received.head.isComplete {
            return NetworkError(
                .connectionLost(.requestNotSent),
                detail: "The server refused the request before processing it, for example because it is shutting down.")
        }
        return NetworkError(
            .connectionLost(hasLeft ? .requestMayHaveArrived : .requestNotSent),
            detail: "The connection closed before a response arrived, and the request cannot be repeated safely.")
    }

    /// Streams the body through a pipe, and delivers the response to the caller before the end of the body.
    private func stream() {
        received.pipe = BodyPipe(
            self, first: received.gathered, capacity: plan.owner.configuration.bodyBuffer, memory: memory)
        received.gathered = GatheredBody()
        carrier?.add(.head(self))
    }
}
#endif
