// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// Another call, of this process or another one, already transfers the same upload.
    public static let uploadInProgress = NetworkError.Policy(
        "uploadInProgress", message: "The upload is already running.", mayPass: true)
}
