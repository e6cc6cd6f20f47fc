// SPDX-License-Identifier: MIT

extension Pipeline {
    /// What a client has when it names no pipeline.
    ///
    /// - `.redirects()`: follows redirects, at most 20, by the rules of `RedirectPolicy`.
    ///
    /// Deadlines, limits and header rules, which every call has, are the engine's own. What is added here later (retry
    /// of idempotent work) costs nothing until it acts, and nothing here ever remembers one call for the next, or asks
    /// for a name, a token or a file. Cookies, logging and credentials are the app's choice:
    ///
    ///     Pipeline.standard.adding(.cookies()).adding(.logging()).adding(.bearer { await keychain.token() })
    public static let standard: Pipeline = [.redirects()]
}
