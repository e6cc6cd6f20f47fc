// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Bodies that nobody wants: of redirects that are followed and of challenges that are answered.
extension ResponseBody {
    /// The most that is read of such a body for the sake of its connection, and for how long.
    static let finishLimit = 64 * 1024
    static let finishTime = Duration.seconds(1)

    /// Reads what is left of a short body, so that its connection can be used again. One that is longer, takes more than a
    /// second, breaks off or cannot be decoded costs the connection and nothing else.
    ///
    /// Throws when the caller is cancelled, and when the time of the call is over.
    func finish(on time: any TimeSource) async throws {
        if bufferedData != nil { return }
        if let length = declaredLength, length > Self.finishLimit { return cancel() }
        _ = try await read(upTo: Self.finishLimit, on: time)
        cancel()
    }

    /// The same for a body that may yet be wanted: what has come of it, at most 1 MiB. If it did not end well, reading it
    /// does not either.
    func settled(on time: any TimeSource) async throws -> ResponseBody {
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

    private func read(upTo most: Int, on time: any TimeSource) async throws -> (Data, NetworkError?) {
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
                if data.count > most {
                    return (
                        data, NetworkError(.limitExceeded(.responseBody), detail: "The body has over \(most) bytes.")
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
