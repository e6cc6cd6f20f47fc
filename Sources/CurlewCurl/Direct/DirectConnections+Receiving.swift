// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// Receiving: what arrives goes through the parser to the transfer.
extension DirectConnections {
    /// Receives and processes bytes until there are none.
    func receive(on connection: DirectConnection) {
        for _ in 0..<Self.readLimit {
            guard let transfer = connection.transfer, !transfer.isReceivingPaused else { return }
            let count = curlew_receive(connection.descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                return count == -Int(EAGAIN) ? () : endOfConnection(connection, transfer, Int32(-count))
            }
            noteReceived(count, transfer)
            let received = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if connection.kept.isEmpty {
                guard process(connection, transfer, received) else { return }
            } else {
                connection.kept.append(contentsOf: received)
                let kept = connection.kept
                guard kept.withUnsafeBytes({ process(connection, transfer, $0) }) else { return }
            }
            guard count == buffer.count else { return }
        }
    }

    private func noteReceived(_ count: Int, _ transfer: Transfer) {
        transfer.clock.lastActivity = loop.now
        if transfer.direct.firstByte == 0 { transfer.direct.firstByte = loop.now }
        transfer.direct.bytesReceived += Int64(count)
    }

    /// Processes the bytes that were kept while the reader of the body had no room, then receives more.
    func receiveKept(on connection: DirectConnection) {
        if !connection.kept.isEmpty, let transfer = connection.transfer {
            let kept = connection.kept
            guard kept.withUnsafeBytes({ process(connection, transfer, $0) }) else { return }
        }
        receive(on: connection)
    }

    /// Parses the bytes that have arrived, and keeps those that cannot be consumed. Returns whether receiving goes on.
    /// If not, the connection may already perform another exchange on the thread of a caller.
    private func process(
        _ connection: DirectConnection, _ transfer: Transfer, _ bytes: UnsafeRawBufferPointer
    ) -> Bool {
        var offset = 0
        if connection.keptContent > 0 {
            offset = connection.keptContent
            guard take(UnsafeRawBufferPointer(rebasing: bytes[..<offset]), connection, transfer) else {
                keep(bytes, from: 0, content: offset, connection, transfer)
                return false
            }
            connection.keptContent = 0
        }
        while true {
            if connection.isSwitched {
                let remainder = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                guard remainder.isEmpty || take(remainder, connection, transfer) else {
                    keep(bytes, from: offset, content: remainder.count, connection, transfer)
                    return false
                }
                if !connection.kept.isEmpty { connection.kept = [] }
                return true
            }
            let event: HTTP1ResponseParser.Event
            do throws(HTTP1ResponseError) {
                event = try connection.parser.next(bytes, &offset, loop.fields)
            } catch {
                end(transfer, with: transfer.state.isDiscarding ? NetworkError(.cancelled) : transfer.failure(error))
                return false
            }
            switch event {
            case .incomplete:
                keep(bytes, from: offset, content: 0, connection, transfer)
                return true
            case .interim(let status, let headers): noteInterim(status, headers, transfer)
            case .head(let head):
                guard accept(head, connection, transfer) else { return false }
            case .content(let range):
                transfer.direct.contentBytes += Int64(range.count)
                guard take(UnsafeRawBufferPointer(rebasing: bytes[range]), connection, transfer) else {
                    keep(bytes, from: range.lowerBound, content: range.count, connection, transfer)
                    return false
                }
            case .end(let trailers):
                transfer.received.head.accept(trailers: trailers)
                complete(connection, transfer, hasMore: offset < bytes.count)
                return false
            }
        }
    }

    /// Keeps the bytes that have not been consumed. Does nothing if the transfer has failed.
    private func keep(
        _ bytes: UnsafeRawBufferPointer, from offset: Int, content: Int, _ connection: DirectConnection,
        _ transfer: Transfer
    ) {
        guard connection.transfer === transfer else { return }
        // Bytes of which nothing has been consumed are kept already, unless they have just arrived.
        if offset > 0 || connection.kept.count != bytes.count {
            connection.kept = offset < bytes.count ? Array(bytes[offset...]) : []
        }
        connection.keptContent = content
    }

    private func noteInterim(_ status: HTTPStatus, _ headers: HTTPHeaders, _ transfer: Transfer) {
        if status == 100 { transfer.plan.expectation?.permit() }
        if transfer.plan.context.isObserved { add(.event(transfer, .interim(status, headers))) }
    }

    /// Processes the head. Returns false if the transfer has ended.
    private func accept(_ head: HTTP1ResponseHead, _ connection: DirectConnection, _ transfer: Transfer) -> Bool {
        guard !transfer.state.isDiscarding else { return true }
        if head.framing == .switched {
            guard transfer.plan.upgrade != nil else {
                end(
                    transfer,
                    with: transfer.completed(
                        NetworkError(
                            .badResponse, detail: "The server switched to a protocol that the request did not ask for.")
                    ))
                return false
            }
            connection.isSwitched = true
            connection.upload = transfer.plan.upload
        }
        transfer.received.head.accept(head)
        guard transfer.finishHead() else {
            end(transfer, with: transfer.completed(transfer.state.failure ?? NetworkError(.badResponse)))
            return false
        }
        if connection.isSwitched {
            send(on: connection)
        } else if head.status.code >= 300, !connection.isRequestSent,
            connection.holder.load(ordering: .acquiring) == .loop
        {
            // The connection ends with the response: the server would read the next request as the rest of this one.
            connection.omitsRemainder = true
            connection.upload = nil
            setWriting(connection, false)
        }
        return connection.transfer === transfer
    }

    /// Delivers content. Returns false if it must be kept, or if the transfer has ended.
    private func take(
        _ bytes: UnsafeRawBufferPointer, _ connection: DirectConnection, _ transfer: Transfer
    ) -> Bool {
        let taken = transfer.receiveBody(bytes)
        if taken == bytes.count { return true }
        if taken != Int(CURL_WRITEFUNC_PAUSE) {
            end(transfer, with: transfer.completed(transfer.state.failure ?? NetworkError(.badResponse)))
        }
        return false
    }

    /// Completes an exchange whose response is complete.
    private func complete(_ connection: DirectConnection, _ transfer: Transfer, hasMore: Bool) {
        let isCaller = connection.holder.load(ordering: .acquiring) == .caller
        let keeps = connection.parser.keepsConnection && !hasMore && (isCaller || connection.isRequestSent)
        if transfer.state.isDiscarding {
            return finish(transfer, on: connection, .failure(NetworkError(.cancelled)), keepsConnection: keeps)
        }
        if transfer.received.decoder?.isComplete == false {
            let error = NetworkError(
                .badResponse, detail: "The body ends before its content coding does: it is truncated.")
            return finish(transfer, on: connection, .failure(transfer.completed(error)), keepsConnection: keeps)
        }
        finish(transfer, on: connection, .success(()), keepsConnection: keeps)
    }

    /// Processes the end of a connection, or its error.
    private func endOfConnection(_ connection: DirectConnection, _ transfer: Transfer, _ error: Int32) {
        // The system reports an error once, and later only the end.
        if error != 0 { connection.receiveError = error }
        let error = connection.receiveError
        // The thread of the caller is about to say what it has sent. The system reports the end again.
        if connection.holder.load(ordering: .acquiring) == .caller { return }
        if error == 0, connection.isSwitched {
            return finish(transfer, on: connection, .success(()), keepsConnection: false)
        }
        if error == 0, let event = try? connection.parser.finish(), case .end(let trailers) = event {
            transfer.received.head.accept(trailers: trailers)
            return complete(connection, transfer, hasMore: true)
        }
        if transfer.state.isDiscarding { return end(transfer, with: NetworkError(.cancelled)) }
        let hasLeft = transfer.direct.bytesSent > 0
        if connection.isReused, transfer.direct.firstByte == 0, mayRepeat(transfer, hasLeft: hasLeft) {
            return repeatRequest(of: transfer, from: connection)
        }
        end(transfer, with: transfer.lost(hasLeft: hasLeft, error: error != 0 ? error : connection.sendError))
    }

    /// Returns whether the request may be sent again, and rewinds the body. Repeating it must be harmless, or none of
    /// it may have been sent.
    private func mayRepeat(_ transfer: Transfer, hasLeft: Bool) -> Bool {
        (transfer.plan.mayRepeat || !hasLeft) && transfer.plan.upload?.rewind() ?? true
    }

    private func repeatRequest(of transfer: Transfer, from connection: DirectConnection) {
        connection.end()
        disconnect(connection)
        transfer.direct.connection = nil
        transfer.sent.bodyBytes = 0
        noteReleased(transfer)
        transfer.clock.isHeld = false
        let now = TimeoutTracker.now()
        transfer.clock.connectLater(from: now)
        transfer.clock.awaitHead(at: now)
        proceed(transfer)
        noteDeadline(of: transfer)
    }
}
#endif
