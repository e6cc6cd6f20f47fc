// SPDX-License-Identifier: MIT

import CurlewCore

// Exactly the systems with the module Security have this event source.
#if canImport(Security)
import Dispatch
#endif

/// The level of a memory warning from the system.
enum MemoryPressure: Sendable {
    case warning
    case critical

    /// Returns the number of bytes that a store with `bytes` bytes may keep.
    func remainder(of bytes: Int64) -> Int64 {
        switch self {
        case .warning: bytes / 2
        case .critical: 0
        }
    }
}

#if canImport(Security)
extension MemoryPressure {
    /// Calls `report` for each memory warning from the system, until `report` returns false. The handler retains its
    /// event source, because the system cancels a source without references.
    static func watch(_ report: @escaping @Sendable (MemoryPressure) -> Bool) {
        for level in [MemoryPressure.warning, .critical] {
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: level == .warning ? .warning : .critical, queue: DispatchQueue.global())
            source.setEventHandler { if !report(level) { source.cancel() } }
            source.activate()
        }
    }
}
#endif
