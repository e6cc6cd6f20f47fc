// SPDX-License-Identifier: MIT

#if os(Linux)
import FoundationEssentials

/// What has come of a body that is not handed over yet. On the event loop's thread only.
struct GatheredBody {
    private var small = Data()
    private var large: BodyBlock?

    /// Room for more than this is taken when it is needed, whatever a server declares.
    private static let mostExpected = 1 << 20

    var count: Int { large?.count ?? small.count }

    /// Appends `bytes` of a body that will have `length` bytes, if that is known.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of length: Int64?, memory: BodyMemory) {
        let expected = max(count + bytes.count, Int(min(length ?? 0, Int64(Self.mostExpected))))
        if let large {
            if large.room < bytes.count { self.large = large.moved(to: memory.take(max(expected, large.count * 2))) }
            self.large?.append(bytes)
        } else if expected > BodyMemory.least {
            let new = memory.take(expected)
            small.withUnsafeBytes { new.append($0) }
            small = Data()
            new.append(bytes)
            large = new
        } else if small.isEmpty, expected == bytes.count {
            // A small body mostly comes whole; one that does not gets its room at once.
            small = Data(bytes)
        } else {
            if small.isEmpty { small.reserveCapacity(expected) }
            small.append(contentsOf: bytes)
        }
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
#endif
