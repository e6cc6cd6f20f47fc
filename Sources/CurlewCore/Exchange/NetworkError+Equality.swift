// SPDX-License-Identifier: MIT

extension NetworkError: Hashable {
    /// Returns true when both errors have the same `reason`, which includes the status, the phase or the policy. For
    /// two `.interceptor` errors, the type and case of the underlying errors must be equal too.
    ///
    /// The request, the times, the attempts and the texts are not compared, so a test needs only the expected reason:
    ///
    ///     #expect(model.error == NetworkError(statusCode: 503))
    ///
    /// Compare `request`, `response` and the rest where they matter.
    public static func == (left: NetworkError, right: NetworkError) -> Bool {
        left.reason == right.reason && left.ownCause == right.ownCause
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(ownCause)
    }

    /// The app's own error, identified by its type and case as the standard library reports them.
    private var ownCause: SystemErrorCode? {
        reason == .interceptor ? underlying.map { SystemErrorCode($0) } : nil
    }
}
