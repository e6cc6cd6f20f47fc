// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// The identifier under which the system performs the exchange of the call, so that it continues while the app is
    /// suspended, and after the app has been terminated. Default nil: an ordinary exchange, which ends with its process.
    ///
    /// It needs a `URLSessionTransport` with a `BackgroundSession`, on Apple platforms. Any other transport sends the
    /// request as usual, so the same code works on Linux and in tests.
    ///
    ///     let saved = try await client.download(.film(7).inBackground("film-7"), to: "films/7.mp4")
    ///
    /// - When the app starts again, it makes the same call with the same identifier. The call then waits for the running
    ///   exchange or receives its response; nothing is transferred again.
    /// - The identifier names what is transferred, in at most 200 bytes: one exchange at a time can use it. A call whose
    ///   identifier is in use by another call throws `.invalidRequest`. Name the account in it if the response depends on
    ///   who is signed in: a call receives the response that an earlier call with its identifier has left.
    /// - The response arrives as a whole: its body is read from a file when the exchange has ended, without progress.
    ///   Fields of the response that are secret, such as `Set-Cookie`, are missing.
    /// - A timeout of the call ends the wait, and the exchange continues. Cancelling the call cancels the exchange.
    /// - A request body must be empty, in memory (at most 16 MiB) or a file that exists until the exchange has ended.
    ///   Other bodies throw `.invalidRequest`.
    /// - Interceptors run before the exchange starts, so a credential must be valid for long enough. The system follows
    ///   redirects itself, and may send the fields of the request to the new origin.
    public var backgroundIdentifier: String? {
        get { self[BackgroundIdentifierKey.self] }
        set { self[BackgroundIdentifierKey.self] = newValue }
    }
}

private enum BackgroundIdentifierKey: RequestOptions.Key {
    static let defaultValue: String? = nil
}

extension Request {
    /// Returns the call as one that the system continues while the app is not running. See
    /// `RequestOptions.backgroundIdentifier`.
    ///
    /// The call waits without a time limit, unless its options set timeouts.
    public func inBackground(_ identifier: String) -> Self {
        options { options in
            options.backgroundIdentifier = identifier
            options.timeouts.total = options.timeouts.total ?? Timeouts.unlimited
            options.timeouts.attempt = options.timeouts.attempt ?? Timeouts.unlimited
        }
    }
}
