// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// Sending: the head of a request, then its body, as far as the socket accepts it.
extension DirectConnections {
    static let chunkSize = 64 << 10
    /// Room for the framing of a chunk, before and after it.
    static let margin = 10
    private static let upgradeChunkSize = 16 << 10
    /// The maximum number of pieces of one body that are sent in one turn.
    private static let sendLimit = 16

    /// Sends what the socket accepts: the rest of the head, then the body.
    func send(on connection: DirectConnection) {
        guard connection.holder.load(ordering: .acquiring) == .loop, let transfer = connection.transfer,
            connection.sendError == 0, !connection.omitsRemainder, !connection.isRequestSent || connection.isSwitched
        else { return setWriting(connection, false) }
        for _ in 0..<Self.sendLimit {
            if !connection.output.isEmpty {
                let sent = connection.output.send(to: connection.descriptor)
                guard sent > 0 else {
                    if sent == -Int(EAGAIN) { return setWriting(connection, true) }
                    return noteSendError(Int32(-sent), connection, transfer)
                }
                transfer.direct.bytesSent += Int64(sent)
                if !connection.output.isEmpty { return setWriting(connection, true) }
            }
            guard let upload = connection.upload, let piece = nextPiece(connection, transfer, upload),
                write(piece, connection, transfer)
            else { break }
        }
        // The transfer may have failed.
        guard connection.transfer === transfer, connection.sendError == 0 else { return }
        guard connection.upload == nil, connection.output.isEmpty else {
            return setWriting(connection, !transfer.isSendingPaused)
        }
        setWriting(connection, false)
        guard !connection.isRequestSent else { return }
        connection.isRequestSent = true
        transfer.clock.awaitHead(at: loop.now)
        noteDeadline(of: transfer)
    }

    /// Sends the rest of a request of which the thread of the caller has sent only a part.
    func sendRemainder(_ remainder: [UInt8], of transfer: Transfer, on connection: DirectConnection, error: Int32) {
        guard connection.isPerforming(transfer) else { return }
        transfer.direct.bytesSent -= Int64(remainder.count)
        connection.isRequestSent = false
        remainder.withUnsafeBytes { connection.output.append($0) }
        connection.holder.store(.loop, ordering: .releasing)
        if error != 0 { noteSendError(error, connection, transfer) } else { send(on: connection) }
    }

    /// Reads the next piece of the body into the send buffer. Returns nil if there is nothing to send now.
    private func nextPiece(
        _ connection: DirectConnection, _ transfer: Transfer, _ upload: any Upload
    ) -> UnsafeRawBufferPointer? {
        let isUpgrade = transfer.plan.upgrade != nil
        // A switched connection has no framing, and nothing is sent before the switch.
        if isUpgrade, !connection.isSwitched {
            connection.upload = nil
            return nil
        }
        let isChunked = upload.length == nil && !isUpgrade
        let size = isUpgrade ? Self.upgradeChunkSize : Self.chunkSize
        switch upload.read(into: UnsafeMutableRawBufferPointer(rebasing: piece[Self.margin...].prefix(size))) {
        case .bytes(let count):
            transfer.sent.bodyBytes += Int64(count)
            if transfer.clock.send(at: loop.now) { noteDeadline(of: transfer) }
            if transfer.sent.bodyBytes == upload.length { connection.upload = nil }
            guard isChunked else { return UnsafeRawBufferPointer(rebasing: piece[Self.margin...].prefix(count)) }
            let head = Array("\(String(count, radix: 16))\r\n".utf8)
            let start = Self.margin - head.count
            UnsafeMutableRawBufferPointer(rebasing: piece[start..<Self.margin]).copyBytes(from: head)
            (piece[Self.margin + count], piece[Self.margin + count + 1]) = (0x0D, 0x0A)
            return UnsafeRawBufferPointer(rebasing: piece[start..<(Self.margin + count + 2)])
        case .end:
            connection.upload = nil
            if isChunked { writeLastChunk(upload.trailers, connection, transfer) }
            return nil
        case .wait:
            guard !transfer.isSendingPaused else { return nil }
            noteHeld(transfer)
            transfer.state.take(.pause(.sending))
            // An upgrade has nothing to send before the response, which the usual timeout for the head limits.
            transfer.clock.isHeld = !isUpgrade
            return nil
        case .failed(let error):
            end(transfer, with: transfer.completed(error))
            return nil
        }
    }

    private func writeLastChunk(_ trailers: HTTPHeaders, _ connection: DirectConnection, _ transfer: Transfer) {
        var text = "0\r\n"
        for field in trailers { text += "\(field.name.text): \(field.value)\r\n" }
        _ = Array((text + "\r\n").utf8).withUnsafeBytes { write($0, connection, transfer) }
    }

    /// Sends bytes, and keeps those that the socket does not accept. Returns whether it has accepted all.
    private func write(
        _ bytes: UnsafeRawBufferPointer, _ connection: DirectConnection, _ transfer: Transfer
    ) -> Bool {
        let sent = curlew_send(connection.descriptor, bytes.baseAddress, bytes.count)
        if sent > 0 { transfer.direct.bytesSent += Int64(sent) }
        if sent == bytes.count { return true }
        guard sent > 0 || sent == -Int(EAGAIN) else {
            noteSendError(Int32(-sent), connection, transfer)
            return false
        }
        connection.output.append(UnsafeRawBufferPointer(rebasing: bytes[max(0, sent)...]))
        return false
    }

    func setWriting(_ connection: DirectConnection, _ isWriting: Bool) {
        let bits = connection.registered & Self.readable
        register(connection, isWriting ? bits | Self.writable : bits)
    }

    /// Ends sending. The server may have responded before it closed the connection, so receiving goes on.
    func noteSendError(_ error: Int32, _ connection: DirectConnection, _ transfer: Transfer) {
        connection.sendError = error
        connection.upload = nil
        connection.output.removeAll()
        setWriting(connection, false)
        if transfer.isReceivingPaused { return }
        receive(on: connection)
    }
}
#endif
