// SPDX-License-Identifier: MIT

extension NetworkError: Hashable {
    /// Returns whether both errors have the same `reason`, which includes the status, the phase or the policy. For two
    /// `.interceptor` errors, the types and cases of the underlying errors must also be equal.
    ///
    /// The request, the times, the attempts and the messages are not compared, so a test needs only the expected
    /// reason:
    ///
    ///     #expect(model.error == NetworkError(statusCode: 503))
    ///
    /// Compare the other properties separately.
    public static func == (left: NetworkError, right: NetworkError) -> Bool {
        left.reason == right.reason && left.ownCause == right.ownCause
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(ownCause)
    }

    /// The type and case of an error from the app, as the standard library reports them; nil for other reasons.
    private var ownCause: SystemErrorCode? {
        reason == .interceptor ? underlying.map { SystemErrorCode($0) } : nil
    }
}
