// SPDX-License-Identifier: MIT

extension NetworkError: Hashable {
    /// Two errors are equal when they mean the same to the caller: the same `reason`, which has the status, the phase or the
    /// policy in it. Of two `.interceptor` errors the underlying ones have to be the same too: their types and cases.
    ///
    /// What was asked, when, how often and in which words it failed does not count, so that a test names what it expects:
    ///
    ///     #expect(model.error == NetworkError(statusCode: 503))
    ///
    /// Compare `request`, `response` and the rest where they matter.
    public static func == (left: NetworkError, right: NetworkError) -> Bool {
        left.reason == right.reason && left.ownCause == right.ownCause
    }

    /// What `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(ownCause)
    }

    /// The app's own error, as far as the standard library tells errors apart: the type and the case.
    private var ownCause: SystemErrorCode? {
        reason == .interceptor ? underlying.map { SystemErrorCode($0) } : nil
    }
}
