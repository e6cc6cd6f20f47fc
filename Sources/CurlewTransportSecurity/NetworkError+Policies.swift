// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// `.httpsOnly()`: the request would be sent over plain http.
    public static let httpsOnly = NetworkError.Policy("httpsOnly")
}
