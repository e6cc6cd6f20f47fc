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
            guard !body.isEmpty else { return body }
            let length = body.lengthToSend
            let meter = BodyMeter(handler, total: length, time: SystemTime())
            return meter.counting(body, at: 0, length: length, isWhole: true)
        }
    }
}
