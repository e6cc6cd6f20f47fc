// SPDX-License-Identifier: MIT

public import CurlewCore

/// The failures without progress, and the waits that follow them.
struct UploadFailures {
    private let maximum: Int
    private let maximumWait: Duration
    private let random: @Sendable () -> Double
    private let time: any TimeSource
    private var count = 0

    init(_ options: Upload.Options, _ time: any TimeSource) {
        maximum = max(0, options.maximumFailures)
        maximumWait = max(.zero, options.maximumWait)
        random = options.random
        self.time = time
    }

    /// Counts a failure. Throws its error if there were too many.
    mutating func add(_ error: NetworkError) throws(NetworkError) {
        count += 1
        guard count <= maximum else {
            throw error.advised("The upload failed \(count) times without progress. Resume it later.")
        }
    }

    /// Counts a failure, and returns when the wait after it is over. Throws its error if there were too many.
    mutating func wait(after error: NetworkError) async throws(NetworkError) {
        try add(error)
        let pause = Self.pause(after: count, asked: error.retryAfter, maximum: maximumWait, random())
        do { try await time.sleep(for: pause) } catch { throw NetworkError(error) }
    }

    mutating func clear() { count = 0 }

    /// Returns the wait after a number of failures: the one that the server requested, or a random time from a half to
    /// all of a bound that doubles from one second.
    static func pause(after failures: Int, asked: Duration?, maximum: Duration, _ random: Double) -> Duration {
        if let asked { return min(asked, maximum) }
        let bound = min(.seconds(Int64(1) << Int64(min(max(failures, 1), 20) - 1)), maximum)
        return bound * (0.5 + min(max(random, 0), 1) / 2)
    }
}

extension NetworkError {
    func advised(_ hint: String) -> NetworkError {
        var copy = self
        copy.hint = hint
        return copy
    }
}

extension NetworkError.Policy {
    /// Another call, of this process or another one, already transfers the same upload.
    public static let uploadInProgress = NetworkError.Policy(
        "uploadInProgress", message: "The upload is already running.", mayPass: true)
}
