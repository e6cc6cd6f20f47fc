// SPDX-License-Identifier: MIT

import CurlewCore

// This module exists on all systems with this event source, and on no others.
#if canImport(Security)
import Dispatch
#endif

/// The level of a memory warning of the system.
enum MemoryPressure: Sendable {
    case warning
    case critical

    /// Returns how many of `bytes` bytes a store keeps.
    func rest(of bytes: Int64) -> Int64 {
        switch self {
        case .warning: bytes / 2
        case .critical: 0
        }
    }
}

#if canImport(Security)
extension MemoryPressure {
    /// Calls `tell` for memory warnings of the system, until it returns false. The system cancels an event source
    /// without references, so the handler retains its source.
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
