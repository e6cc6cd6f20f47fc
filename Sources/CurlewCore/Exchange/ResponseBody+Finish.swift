// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// Draining of bodies that the caller does not receive, such as those of followed redirects and of challenges.
extension ResponseBody {
    /// The maximum number of bytes to read of such a body in order to keep its connection.
    static let finishLimit = 64 * 1024
    /// The maximum time to read such a body in order to keep its connection.
    static let finishTime = Duration.seconds(1)

    /// Reads the rest of a body of at most 64 KiB, so that its connection can be reused. If the body is longer, takes
    /// more than a second, breaks off or cannot be decoded, only the connection is lost: the function returns without
    /// an error.
    ///
    /// Throws when the task is cancelled, and when the deadline of the call has passed.
    package func finish(on time: any TimeSource) async throws {
        if bufferedData != nil { return }
        if let length = declaredLength, length > Self.finishLimit { return cancel() }
        _ = try await read(upTo: Self.finishLimit, on: time)
        cancel()
    }

    /// Reads a body that may still be needed, and returns a replacement with its bytes. If the body has more than 1
    /// MiB, takes more than a second or breaks off, reading the replacement throws after the bytes that were read.
    ///
    /// Throws when the task is cancelled, and when the deadline of the call has passed.
    package func settled(on time: any TimeSource) async throws -> ResponseBody {
        if bufferedData != nil || value != nil { return self }
        let (data, failure) = try await read(upTo: 1 << 20, on: time)
        guard let failure else { return ResponseBody(data, limit: limit, trailers: trailers) }
        cancel()
        return ResponseBody(
            AsyncThrowingStream<Data, any Error> { source in
                if !data.isEmpty { source.yield(data) }
                source.finish(throwing: failure)
            }
        ).limited(to: limit)
    }

    private func read(upTo maximum: Int, on time: any TimeSource) async throws -> (Data, NetworkError?) {
        let isLate = Locked(false)
        let timer = Task {
            try await time.alarm(at: time.now.advanced(by: Self.finishTime))
            isLate.withLock { $0 = true }
            cancel()
        }
        defer { timer.cancel() }
        var data = Data()
        do {
            for try await chunk in self {
                data.append(chunk)
                if data.count > maximum {
                    return (
                        data, NetworkError(.limitExceeded(.responseBody), detail: "The body has over \(maximum) bytes.")
                    )
                }
            }
            return (data, nil)
        } catch {
            let isOurs = isLate.withLock { $0 } && !Task.isCancelled
            if !isOurs, Task.isCancelled || NetworkError(error).isCancelled { throw NetworkError(.cancelled) }
            if case .timedOut(.total) = NetworkError(error).reason { throw error }
            let late = NetworkError(.timedOut(.idle), detail: "The body took longer than \(Self.finishTime.brief).")
            return (data, isOurs ? late : NetworkError(error))
        }
    }
}
