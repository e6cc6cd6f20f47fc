// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// The policy of `.httpsOnly()`. It refuses a request that would be sent over plain http.
    public static let httpsOnly = NetworkError.Policy("httpsOnly")
}
