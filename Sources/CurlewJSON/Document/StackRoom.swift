// SPDX-License-Identifier: MIT

import CStack

/// The part of a stack that a call of `decode` may use: from its own frame down to a reserve at the end.
///
/// Models nest as deep as the document says, and each level takes stack: a small document could end a program whose
/// thread has 512 KB, as those of Apple's platforms have. So decoding ends with an error before the stack does.
struct StackRoom {
    /// What is left for the innermost value, in bytes.
    static let reserve = 64 * 1024

    private let lowest: UInt
    private let size: UInt

    /// For the thread of the caller, from its frame on.
    init() {
        let end = UInt(curlew_stack_end())
        let here = StackRoom.here
        lowest = end &+ UInt(StackRoom.reserve)
        // Where the system does not know the stack, no frame is known to be on it.
        size = end != 0 && here > lowest ? here &- lowest &+ StackRoom.slack : 0
    }

    /// Holds no frame at all.
    static let none = StackRoom(lowest: 0, size: 0)

    private init(lowest: UInt, size: UInt) {
        self.lowest = lowest
        self.size = size
    }

    /// Frames may be laid out in another order than they are called in, by a little.
    private static var slack: UInt { 512 }

    /// If the caller's frame is in that part: it runs on the same thread, and has room.
    @inline(__always) var holdsCaller: Bool { StackRoom.here &- lowest < size }

    /// If the thread of the caller has no more than the reserve.
    static var isLittleLeft: Bool {
        let end = UInt(curlew_stack_end())
        return end != 0 && here < end &+ UInt(reserve)
    }

    /// An address in the frame of the caller. Stacks grow downwards on all platforms of Swift's.
    @inline(__always)
    private static var here: UInt {
        var frame: UInt8 = 0
        return withUnsafeMutablePointer(to: &frame) { UInt(bitPattern: $0) }
    }
}
