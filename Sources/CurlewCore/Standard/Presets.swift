// SPDX-License-Identifier: MIT

extension Pipeline {
    /// The default pipeline of a client: it follows redirects and retries failed requests.
    ///
    /// - `.redirects()`: follows redirects, by default at most 20 (`Limits.redirects`), by the rules of
    ///   `RedirectPolicy`.
    /// - `.retry()`: makes up to three attempts of a request that may be sent twice, by the rules of `RetryPolicy`,
    ///   with a `RetryBudget`.
    ///
    /// Deadlines, limits and header rules apply to every call and are not part of the pipeline.
    ///
    /// Each use of this property creates a new budget. Clients share a budget when they are derived from each other or
    /// created with the same pipeline value.
    ///
    /// The app adds cookies, logging and credentials:
    ///
    ///     Pipeline.standard.adding(.cookies()).adding(.logging()).adding(.bearer { await keychain.token() })
    ///     Pipeline.standard.replacing(.retry(.never))
    public static var standard: Pipeline { [.redirects(), .retry()] }
}
