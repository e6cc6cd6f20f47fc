// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewFoundation

/// A store of memory blocks for complete bodies and for chunks of large streams. A block is reused after its reader has
/// released it.
///
/// The system's allocator returns blocks of this size to the kernel as soon as they are freed. Allocating them again,
/// page by page and cleared, costs more than receiving the bytes.
///
/// The store keeps at most `limit` unused bytes. They are freed when the event loop has been idle for 10 s.
final class BodyMemory: Sendable {
    /// The size of the smallest block. Smaller bodies use the system's allocator, which retains small blocks itself.
    static let minimumSize = 64 << 10
    static let limit = 8 << 20

    private struct State {
        /// The most recently used block is last: it may still be in the processor's cache.
        var free: [BodyBlock.Memory] = []
        var count = 0
    }

    private let state = Locked(State())

    /// Returns a block of at least `count` bytes. From `minimumSize` bytes on, the block is at most a quarter larger
    /// than `count`.
    fileprivate func take(_ count: Int) -> BodyBlock {
        let size = Self.size(for: count)
        let found = state.withLock { state -> BodyBlock.Memory? in
            guard let index = state.free.lastIndex(where: { $0.size == size }) else { return nil }
            state.count -= size
            return state.free.remove(at: index)
        }
        return BodyBlock(found ?? BodyBlock.Memory(size: size), of: self)
    }

    fileprivate func giveBack(_ memory: BodyBlock.Memory) {
        // Excess memory is freed after the lock is released.
        _ = state.withLock { state in
            state.free.append(memory)
            state.count += memory.size
            var dropped: [BodyBlock.Memory] = []
            while state.count > Self.limit {
                dropped.append(state.free.removeFirst())
                state.count -= dropped[dropped.count - 1].size
            }
            return dropped
        }
    }

    var isEmpty: Bool { kept == 0 }

    /// The number of unused bytes.
    var kept: Int { state.withLock { $0.count } }

    /// Frees all unused memory.
    func forget() { state.withLock { $0 = State() } }

    /// Returns the block size for `count` bytes, at least `minimumSize`: rounded up to a quarter of the next lower
    /// power of two, so that bodies of about the same size use the same blocks.
    static func size(for count: Int) -> Int {
        let count = max(count, minimumSize)
        let step = max(1, 1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount)) / 4
        return (count + step - 1) / step * step
    }
}

/// The received bytes of a body that have not been delivered yet. Used on the event loop's thread, or under the lock of
/// a pipe.
struct GatheredBody {
    private var small = Data()
    private var large: BodyBlock?

    /// The maximum capacity in bytes that is reserved because of a declared length. More is allocated when it is
    /// needed.
    private static let maximumExpected: Int64 = 1 << 20

    var count: Int { large?.count ?? small.count }

    /// Appends `bytes`. `length` is the expected number of bytes in total; nil if it is unknown.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of length: Int64?, memory: BodyMemory) {
        let expected = max(count + bytes.count, Int(min(length ?? 0, Self.maximumExpected)))
        guard large != nil || expected > BodyMemory.minimumSize else {
            // A small body usually arrives in one piece. Otherwise its full capacity is reserved immediately.
            if small.isEmpty, expected == bytes.count { return small = Data(bytes) }
            if small.isEmpty { small.reserveCapacity(expected) }
            return small.append(contentsOf: bytes)
        }
        if let large, large.room >= bytes.count { return large.append(bytes) }
        let new = memory.take(max(expected, (large?.count ?? 0) * 2))
        if let large { new.append(large.bytes) } else { small.withUnsafeBytes { new.append($0) } }
        new.append(bytes)
        small = Data()
        large = new
    }

    /// Returns all bytes and clears the body.
    mutating func take() -> Data {
        defer { self = GatheredBody() }
        guard let large else { return small }
        // Without a copy, a body of unknown length could occupy twice its size as long as it is retained.
        return large.room > large.count / 2 ? Data(large.bytes) : large.data
    }

    /// Returns a copy of the first bytes of the body, at most `count`.
    func prefix(_ count: Int) -> Data {
        large.map { Data($0.bytes.prefix(count)) } ?? small.prefix(count)
    }
}

/// A block that collects the bytes of a body, or of a part of it. The block becomes `Data` without a copy, and its
/// memory returns to the store when the data is released.
///
/// `@unchecked Sendable` is valid because only the `GatheredBody` that owns it writes to it, on the event loop's thread
/// or under the lock of a pipe, and nothing writes to it once it has become data.
private final class BodyBlock: @unchecked Sendable {
    /// `@unchecked Sendable` is valid because it has a single owner at a time: the store, a block, or the data that a
    /// block became.
    final class Memory: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
        let size: Int

        init(size: Int) {
            start = .allocate(byteCount: size, alignment: 16)
            self.size = size
        }

        deinit { start.deallocate() }
    }

    private let memory: Memory
    private let owner: BodyMemory
    private(set) var count = 0
    var room: Int { memory.size - count }

    init(_ memory: Memory, of owner: BodyMemory) {
        self.memory = memory
        self.owner = owner
    }

    deinit { owner.giveBack(memory) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.start, count: count) }

    /// Appends at most `room` bytes.
    func append(_ bytes: UnsafeRawBufferPointer) {
        let added = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        UnsafeMutableRawBufferPointer(start: memory.start + count, count: room).copyMemory(from: added)
        count += added.count
    }

    /// The collected bytes, without a copy. Nothing may be appended afterwards.
    var data: Data {
        Data(bytesNoCopy: memory.start, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
#endif
