// SPDX-License-Identifier: MIT

/// Generates numbers that are unique in the process. A counter is cheaper than a random identifier and sorts by time.
struct Numbers: Sendable {
    static let calls = Numbers()
    static let chains = Numbers()

    private let last = Locked<UInt64>(0)

    func next() -> UInt64 {
        last.withLock { last in
            last &+= 1
            return last
        }
    }
}
