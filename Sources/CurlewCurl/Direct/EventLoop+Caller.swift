// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// What the thread of a caller does itself: write a request that fits into one packet or a few on an idle connection.
extension EventLoop {
    /// Sends the request of a transfer that has received a slot. Returns false if the loop must begin the transfer:
    /// there is no idle connection, or sending takes more than one step.
    func sendHere(_ transfer: Transfer) -> Bool {
        while let connection = transfer.direct.connection {
            if connection.isSilent { return send(transfer, on: connection) }
            // The loop removes it: the bytes or the end are an event that stays.
            connection.holder.store(.lost, ordering: .releasing)
            queues.takeIdle(for: transfer)
        }
        return false
    }

    private func send(_ transfer: Transfer, on connection: DirectConnection) -> Bool {
        let now = TimeoutTracker.now()
        transfer.clock.begin(at: now)
        transfer.clock.connected(at: now)
        let check = transfer.clock.check(at: now)
        guard check.expired == nil else { return false }
        let room = curlew_request_room()
        let buffer = UnsafeMutableRawBufferPointer(start: room.bytes, count: room.count)
        guard let count = Self.write(transfer, into: buffer) else { return false }
        transfer.loop = self
        transfer.carrier = connection.owner
        connection.begin(transfer, at: now)
        connection.upload = nil
        connection.isRequestSent = true
        transfer.direct.bytesSent = Int64(count)
        connection.owner.inProgress.add(1, ordering: .relaxed)
        // From here on, the loop may end the transfer, so this function uses nothing of it.
        guard connection.move(from: .idle, to: .caller) else { return undo(transfer, connection) }
        if transfer.isCancelled, connection.move(from: .caller, to: .returned) {
            withdraw(transfer, from: connection)
            return true
        }
        let sent = curlew_send(connection.descriptor, buffer.baseAddress, count)
        passOn(transfer, connection, UnsafeRawBufferPointer(rebasing: buffer[..<count]), sent)
        if connection.owner.bringCheckForward(to: check.next) { send(.wake) }
        return true
    }

    /// Writes the head and the body. Returns their size, or nil if they do not fit or must wait.
    private static func write(_ transfer: Transfer, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var writer = RequestHeadWriter(buffer)
        writer.write(transfer.plan)
        guard !writer.isTooLong else { return nil }
        var count = writer.count
        guard let upload = transfer.plan.upload else { return count }
        guard let parts = upload as? PartsUpload, let length = parts.length, length <= Int64(buffer.count - count)
        else {
            return nil
        }
        let end = count + Int(length)
        while count < end {
            guard
                case .bytes(let added) = parts.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<end]))
            else {
                _ = parts.rewind()
                return nil
            }
            count += added
        }
        return count
    }

    /// Leaves a transfer to the loop, because the transport has closed its connections in the meantime. Returns false.
    private func undo(_ transfer: Transfer, _ connection: DirectConnection) -> Bool {
        connection.end()
        connection.owner.inProgress.subtract(1, ordering: .releasing)
        transfer.carrier = nil
        queues.forgetConnection(of: transfer)
        _ = transfer.plan.upload?.rewind()
        return false
    }

    /// Passes a connection on to the loop after the request, or a part of it, has been sent.
    private func passOn(
        _ transfer: Transfer, _ connection: DirectConnection, _ request: UnsafeRawBufferPointer, _ sent: Int
    ) {
        let isComplete = sent == request.count
        let (isMoved, holder) = connection.holder.compareExchange(
            expected: .caller, desired: isComplete ? .loop : .partial, ordering: .acquiringAndReleasing)
        if isMoved {
            guard !isComplete else { return }
            let remainder = Array(request[max(0, sent)...])
            let error = sent < 0 && sent != -Int(EAGAIN) ? Int32(-sent) : 0
            send(.unsent(transfer, connection, remainder, error: error))
        } else if holder == .returned {
            if !isComplete { connection.abandon() }
            giveBack(connection, of: transfer)
        }
    }

    /// Ends a transfer that was cancelled before anything was sent.
    private func withdraw(_ transfer: Transfer, from connection: DirectConnection) {
        connection.end()
        connection.owner.inProgress.subtract(1, ordering: .releasing)
        transfer.carrier = nil
        giveBack(connection, of: transfer)
        transfer.refuse(NetworkError(.cancelled))
    }

    /// Makes a connection idle whose exchange has ended, and releases the slot of its transfer.
    private func giveBack(_ connection: DirectConnection, of transfer: Transfer) {
        let isKept = connection.move(from: .returned, to: .idle)
        var due = queues.releaseSlot(of: transfer, keeping: isKept ? connection : nil)
        while let next = due.popLast() {
            guard let error = send(.start(next)) else { continue }
            due += queues.releaseSlot(of: next, keeping: next.direct.connection)
            next.refuse(error)
        }
    }
}

extension DirectConnection {
    /// Changes the holder, unless it has changed already.
    func move(from old: Holder, to new: Holder) -> Bool {
        holder.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent).exchanged
    }

    /// Whether the connection performs this transfer. Used on the loop's thread.
    func isPerforming(_ transfer: Transfer) -> Bool {
        switch holder.load(ordering: .sequentiallyConsistent) {
        case .caller, .partial, .loop: self.transfer === transfer
        case .idle, .returned, .lost: false
        }
    }
}
#endif
