// SPDX-License-Identifier: MIT

import CStack

/// The part of a thread's stack that a call of `decode` may use: from its frame down to a reserve at the end.
///
/// Models nest as deep as the document, and each level uses stack: a small document could crash a program whose thread
/// has 512 KB, as on Apple platforms. Decoding therefore fails with an error before the stack overflows.
struct StackRoom {
    /// The size of the reserve in bytes. Reading the innermost value may use it.
    static let reserve = 64 * 1024

    private let lowest: UInt
    private let size: UInt

    /// Creates the range for the current thread, beginning at the caller's frame.
    init() {
        let end = UInt(curlew_stack_end())
        let here = StackRoom.here
        lowest = end &+ UInt(StackRoom.reserve)
        // Where the system does not know the bounds of the stack, the range is empty.
        size = end != 0 && here > lowest ? here &- lowest &+ StackRoom.slack : 0
    }

    /// An empty range. It contains no frame.
    static let none = StackRoom(lowest: 0, size: 0)

    private init(lowest: UInt, size: UInt) {
        self.lowest = lowest
        self.size = size
    }

    /// A tolerance in bytes, because the frames on the stack may not be in the exact order of the calls.
    private static var slack: UInt { 512 }

    /// Whether the caller's frame is in this part of the stack: it runs on the same thread, above the reserve.
    @inline(__always) var holdsCaller: Bool { StackRoom.here &- lowest < size }

    /// Whether less than the reserve is left on the stack of the current thread. False if the system does not know the
    /// bounds of the stack.
    static var isLittleLeft: Bool {
        let end = UInt(curlew_stack_end())
        return end != 0 && here < end &+ UInt(reserve)
    }

    /// An address in the frame of the caller. Stacks grow downwards on all platforms that Swift supports.
    @inline(__always)
    private static var here: UInt {
        var frame: UInt8 = 0
        return withUnsafeMutablePointer(to: &frame) { UInt(bitPattern: $0) }
    }
}
