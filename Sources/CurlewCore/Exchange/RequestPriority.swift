// SPDX-License-Identifier: MIT

/// Which of several calls that wait for a place at their host begins first.
///
/// It orders what waits inside the transport and is never sent. A steady stream of urgent calls delays others and does
/// not starve them: every eighth place goes to the call that has waited longest.
public enum RequestPriority: Int, Hashable, Sendable, CaseIterable {
    /// After everything else: prefetching, synchronising in the background.
    case low
    /// The usual.
    case normal
    /// Before everything else: somebody looks at an empty screen.
    case high
}
