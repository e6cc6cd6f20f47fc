// SPDX-License-Identifier: MIT

// A module that all systems with this source have, and no other.
#if canImport(Security)
import Dispatch
#endif

/// How little memory the system has left.
enum MemoryPressure: Sendable {
    case warning
    case critical

    /// How many of so many bytes a store keeps.
    func rest(of bytes: Int64) -> Int64 {
        switch self {
        case .warning: bytes / 2
        case .critical: 0
        }
    }
}

#if canImport(Security)
extension MemoryPressure {
    /// Tells when the system has too little memory, until `tell` returns false. A source that nobody refers to ends, so it
    /// refers to itself; what waits for one more event that way is small.
    static func watch(_ tell: @escaping @Sendable (MemoryPressure) -> Bool) {
        for level in [MemoryPressure.warning, .critical] {
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: level == .warning ? .warning : .critical, queue: DispatchQueue.global())
            source.setEventHandler { if !tell(level) { source.cancel() } }
            source.activate()
        }
    }
}
#endif
