// SPDX-License-Identifier: MIT

import CStack

/// The part of a stack that a call of `decode` may use: from its frame down to a reserve at the end.
///
/// Models nest as deep as the document, and each level uses stack: a small document could crash a program whose thread
/// has 512 KB, as on Apple platforms. Decoding therefore fails with an error before the stack overflows.
struct StackRoom {
    /// The reserve for the innermost value, in bytes.
    static let reserve = 64 * 1024

    private let lowest: UInt
    private let size: UInt

    /// Creates the range for the caller's thread, from its frame on.
    init() {
        let end = UInt(curlew_stack_end())
        let here = StackRoom.here
        lowest = end &+ UInt(StackRoom.reserve)
        // Where the system does not know the bounds of the stack, the range is empty.
        size = end != 0 && here > lowest ? here &- lowest &+ StackRoom.slack : 0
    }

    /// The empty range.
    static let none = StackRoom(lowest: 0, size: 0)

    private init(lowest: UInt, size: UInt) {
        self.lowest = lowest
        self.size = size
    }

    /// Frames may be laid out in a slightly different order than that of their calls.
    private static var slack: UInt { 512 }

    /// Whether the caller's frame is in that part: the caller runs on the same thread, and has room.
    @inline(__always) var holdsCaller: Bool { StackRoom.here &- lowest < size }

    /// Whether no more than the reserve is left of the caller's stack.
    static var isLittleLeft: Bool {
        let end = UInt(curlew_stack_end())
        return end != 0 && here < end &+ UInt(reserve)
    }

    /// An address in the frame of the caller. Stacks grow downwards on all platforms of Swift.
    @inline(__always)
    private static var here: UInt {
        var frame: UInt8 = 0
        return withUnsafeMutablePointer(to: &frame) { UInt(bitPattern: $0) }
    }
}
