// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import Synchronization

/// The table of sockets, and what happens when the process has no descriptor left.
extension DirectConnections {
    /// Waits until a descriptor is free, because the process has none for the connection of this transfer. Returns
    /// false if no other transfer is in progress.
    func awaitDescriptor(_ transfer: Transfer) -> Bool {
        if let idle = loop.queues.takeOldestIdle(at: loop.number) {
            disconnect(idle)
        } else if withoutDescriptor.count + 1 >= inProgress.load(ordering: .relaxed) {
            return false
        }
        transfer.direct.connector = nil
        withoutDescriptor.append(transfer)
        return true
    }

    /// Begins the transfers that have waited for a descriptor, if one may be free.
    func retryWithoutDescriptor() {
        guard mayHaveDescriptor, !withoutDescriptor.isEmpty else { return }
        mayHaveDescriptor = false
        let waiting = withoutDescriptor
        withoutDescriptor = []
        waiting.forEach(proceed)
    }

    /// Adds the socket of a connection attempt. Returns false if the system refuses it.
    func add(_ connector: Connector, _ descriptor: Int32) -> Bool {
        insert(.connector(connector), descriptor, Self.writable) != nil
    }

    /// Makes the socket of an attempt that has succeeded a connection. Returns false if the system refuses it.
    func adopt(_ connection: DirectConnection) -> Bool {
        remove(connection.descriptor)
        guard let tag = insert(.connection(connection), connection.descriptor, Self.readable) else { return false }
        connection.tag = tag
        connection.registered = Self.readable
        return true
    }

    private func insert(_ entry: Entry, _ descriptor: Int32, _ bits: UInt32) -> UInt64? {
        let slot = Int(descriptor)
        if slot >= entries.count {
            entries.append(
                contentsOf: repeatElement((entry: nil, generation: UInt32(0)), count: slot + 1 - entries.count + 64))
        }
        entries[slot].generation &+= 1
        let tag = UInt64(entries[slot].generation) << 32 | UInt64(slot)
        guard curlew_poll_socket(poll, 0, descriptor, bits, tag) == 0 else { return nil }
        entries[slot].entry = entry
        openCount += 1
        loop.gauges.connections += 1
        return tag
    }

    /// Removes a socket from the table and from the poll.
    func remove(_ descriptor: Int32) {
        let slot = Int(descriptor)
        guard entries.indices.contains(slot), entries[slot].entry != nil else { return }
        entries[slot].entry = nil
        entries[slot].generation &+= 1
        _ = curlew_poll_socket(poll, 2, descriptor, 0, 0)
        openCount -= 1
        loop.gauges.connections -= 1
    }

    /// Ends and removes a connection. Its descriptor is closed when no thread uses it.
    func disconnect(_ connection: DirectConnection) {
        connection.holder.store(.lost, ordering: .releasing)
        curlew_end_connection(connection.descriptor)
        if case .connection(let other)? = entries[Int(connection.descriptor)].entry, other === connection {
            remove(connection.descriptor)
        }
        mayHaveDescriptor = true
    }

    /// Registers the socket for these events. Without any, it is removed from the poll, which would report its end.
    func register(_ connection: DirectConnection, _ bits: UInt32) {
        guard connection.registered != bits else { return }
        let operation: Int32 = bits == 0 ? 2 : connection.registered == 0 ? 0 : 1
        _ = curlew_poll_socket(poll, operation, connection.descriptor, bits, connection.tag)
        connection.registered = bits
    }
}
#endif
