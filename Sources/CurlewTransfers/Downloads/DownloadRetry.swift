// SPDX-License-Identifier: MIT

import CurlewCore

/// Decides whether a download continues after a failure, and how long it waits.
struct DownloadRetry {
    /// The number of consecutive attempts without progress after which a download fails.
    static let maximumFailureCount = 8
    /// The number of bytes that counts as progress. With a lower number, a server that sends single bytes would receive
    /// requests forever.
    static let progress: Int64 = 64 << 10

    /// The failures since the last progress.
    private(set) var failures = 0

    /// Returns the wait before the next attempt; nil if the download fails with `error`.
    ///
    /// - `received`: the bytes that the attempt has received.
    /// - `random`: a number in 0..<1.
    mutating func wait(after error: NetworkError, received: Int64, random: Double) -> Duration? {
        guard Self.mayPass(error) else { return nil }
        failures = received >= Self.progress ? 0 : failures + 1
        guard failures < Self.maximumFailureCount else { return nil }
        let own = failures == 0 ? .zero : Duration.milliseconds(500 << (failures - 1))
        let waited = min(own, .seconds(30)) * (0.5 + random / 2)
        return max(waited, min(error.retryAfter ?? .zero, .seconds(60)))
    }

    /// Returns whether the next attempt may succeed where this one failed.
    private static func mayPass(_ error: NetworkError) -> Bool {
        switch error.reason {
        case .cancelled, .timedOut(.total), .storage, .limitExceeded: false
        case .connectionLost: true
        default: error.isRetryable
        }
    }
}
