// SPDX-License-Identifier: MIT

public import CurlewCore

extension RequestContent {
    /// Returns this content, which reports the progress of each call that sends it:
    ///
    ///     let photo = RequestContent.file(path).reporting { progress in print(progress) }
    ///     try await client.send(Request<Void>.post("/photos", body: photo))
    ///
    /// Bytes count when the transport takes them, at most its buffers before they reach the server. When a call sends
    /// the body again, `completed` stays until the new bytes exceed it. The last value follows when the last
    /// byte has been taken, or when the call has ended without it.
    public func reporting(_ handler: @escaping TransferProgress.Handler) -> RequestContent {
        changingBody { body throws(NetworkError) in
            body.isEmpty ? body : body.counted(by: handler)
        }
    }
}

extension RequestBody {
    /// Returns a body with the same bytes and trailers, which are counted as they are taken.
    fileprivate func counted(by handler: @escaping TransferProgress.Handler) -> RequestBody {
        let length = lengthToSend
        let passes = BodyPasses(handler, total: length)
        return counted(length: length) {
            let pass = passes.begin()
            return { count in if let count { pass.add(count) } else { pass.end() } }
        }
    }
}

/// The meter of a body, which several attempts may send one after the other.
private final class BodyPasses: Sendable {
    private let meter: ProgressMeter
    private let newest = Locked(0)

    init(_ handler: @escaping TransferProgress.Handler, total: Int64?) {
        meter = ProgressMeter(handler, total: total, time: SystemTime())
    }

    func begin() -> Pass {
        let number = newest.withLock { newest in
            newest += 1
            return newest
        }
        if number == 1 { meter.start() } else { meter.restart() }
        return Pass(owner: self, number: number)
    }

    /// Counts the bytes that one attempt takes from the body. Once a newer pass has begun, an older one is ignored.
    final class Pass: Sendable {
        private let owner: BodyPasses
        private let number: Int

        fileprivate init(owner: BodyPasses, number: Int) {
            self.owner = owner
            self.number = number
        }

        func add(_ count: Int) {
            guard owner.newest.withLock({ $0 }) == number else { return }
            owner.meter.add(Int64(count))
        }

        func end() {
            guard owner.newest.withLock({ $0 }) == number else { return }
            owner.meter.end()
        }
    }

    // Another attempt may follow a pass that broke off. None can follow when the body is released.
    deinit { meter.end() }
}
