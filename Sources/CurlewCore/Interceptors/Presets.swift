// SPDX-License-Identifier: MIT

extension Pipeline {
    /// What a client has when it names no pipeline.
    ///
    /// - `.redirects()`: follows redirects, at most 20, by the rules of `RedirectPolicy`.
    /// - `.retry()`: tries up to three times what may happen twice, by the rules of `RetryPolicy`, with a `RetryBudget`.
    ///
    /// Deadlines, limits and header rules, which every call has, are the engine's own. Nothing here costs anything until
    /// it acts, remembers anything of a call but that it failed, or asks for a name, a token or a file. Each use of this
    /// property gives a new budget: clients share one when they are derived from each other, or made with one pipeline.
    /// Cookies, logging and credentials are the app's choice:
    ///
    ///     Pipeline.standard.adding(.cookies()).adding(.logging()).adding(.bearer { await keychain.token() })
    ///     Pipeline.standard.replacing(.retry(.never))
    public static var standard: Pipeline { [.redirects(), .retry()] }
}
