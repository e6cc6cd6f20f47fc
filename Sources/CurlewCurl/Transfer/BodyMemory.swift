// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import FoundationEssentials

/// Memory for bodies that are gathered whole, and for chunks of large streams, used again when their readers have let
/// go of them.
///
/// The system's allocator gives memory of this size back to the kernel as soon as it is free. Fetching it again, page by
/// page and cleared, costs more than receiving the bytes.
///
/// Bounded: `limit` bytes that nobody uses are kept, and given back when the engine has had nothing to do for a while.
final class BodyMemory: Sendable {
    /// Smaller bodies are left to the allocator, which keeps what they need.
    static let least = 64 << 10
    static let limit = 8 << 20

    private struct State {
        /// The latest last: what was used a moment ago may still be in the processor's cache.
        var free: [BodyBlock.Memory] = []
        var count = 0
    }

    private let state = Locked(State())

    /// Memory for at least `count` bytes, and at most a quarter more.
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
        // What is too much goes back to the system when the lock is free.
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

    /// The bytes that nobody uses.
    var kept: Int { state.withLock { $0.count } }

    /// Gives back to the system what nobody uses.
    func forget() { state.withLock { $0 = State() } }

    /// Steps of a quarter of the power of two below, so that bodies of about the same size use the same blocks.
    static func size(for count: Int) -> Int {
        let count = max(count, least)
        let step = max(1, 1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount)) / 4
        return (count + step - 1) / step * step
    }
}

/// What has come of a body that is not handed over yet. Used on the event loop's thread, or under the lock of a pipe.
struct GatheredBody {
    private var small = Data()
    private var large: BodyBlock?

    /// Room for more than this is taken when it is needed, whatever a server declares.
    private static let mostExpected: Int64 = 1 << 20

    var count: Int { large?.count ?? small.count }

    /// Appends `bytes` of a body that will have `length` bytes, if that is known.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of length: Int64?, memory: BodyMemory) {
        let expected = max(count + bytes.count, Int(min(length ?? 0, Self.mostExpected)))
        guard large != nil || expected > BodyMemory.least else {
            // A small body mostly comes whole; one that does not gets its room at once.
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

    /// All of it; nothing is left.
    mutating func take() -> Data {
        defer { self = GatheredBody() }
        guard let large else { return small }
        // One whose length nobody knew may have twice the room that it needs, for as long as somebody keeps it.
        return large.room > large.count / 2 ? Data(large.bytes) : large.data
    }

    /// A copy of its beginning, at most `count` bytes.
    func prefix(_ count: Int) -> Data {
        large.map { Data($0.bytes.prefix(count)) } ?? small.prefix(count)
    }
}

/// A body, or a part of it, while it is gathered. Becomes `Data` without being copied; its memory goes back when that
/// has gone.
///
/// `@unchecked Sendable` holds because the one `GatheredBody` that has it writes to it, on the event loop's thread or under
/// the lock of a pipe, and nobody once it has become data.
private final class BodyBlock: @unchecked Sendable {
    /// `@unchecked Sendable` holds because one at a time has it: the store, a block, or the data that a block became.
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

    /// Appends as many bytes as there is room for.
    func append(_ bytes: UnsafeRawBufferPointer) {
        let added = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        UnsafeMutableRawBufferPointer(start: memory.start + count, count: room).copyMemory(from: added)
        count += added.count
    }

    /// What was gathered. Nothing may be appended any more.
    var data: Data {
        Data(bytesNoCopy: memory.start, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
#endif
