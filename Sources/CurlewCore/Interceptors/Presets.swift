// SPDX-License-Identifier: MIT

extension Pipeline {
    /// What a client has when it names no pipeline.
    ///
    /// For now nothing: a call is one exchange, and deadlines, limits and header rules, which every call has, are the
    /// engine's own. What is added here later (redirects, retry of idempotent work) costs nothing until it acts, and
    /// nothing here ever asks for a name, a token or a file. Logging and credentials are the app's choice:
    ///
    ///     Pipeline.standard.adding(.logging()).adding(.bearer { await keychain.token() })
    public static let standard = Pipeline([])
}
