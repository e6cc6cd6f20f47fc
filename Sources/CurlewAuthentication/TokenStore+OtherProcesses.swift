// SPDX-License-Identifier: MIT

import CurlewCore

/// Coordinates the refreshes of processes that share the tokens: one process refreshes at a time, and it refreshes only
/// tokens that no other process has refreshed.
extension TokenStore {
    /// Returns whether this process, which holds the lock, must refresh the tokens. It need not if another process has
    /// refreshed them, or has signed out or in again.
    ///
    /// - `tokens`: the tokens to refresh. They become the stored ones.
    func mustRefresh(
        _ number: UInt64, _ tokens: inout Tokens?, canObtain: Bool, _ shared: any SharedTokens
    ) async -> Bool {
        // Before the comparison, the file must contain the pending changes of this process.
        if isSaving || nextSave != nil { try? await save() }
        // If the file cannot be read, the tokens of this process are used.
        guard problem == nil else { return true }
        let found: Tokens?
        do { found = try await Task.detached { try await shared.load() }.value } catch { return true }
        guard state.isUnderWay(number) else { return false }
        if let found, !found.isSame(as: kept) {
            guard canObtain || found.session == state.current?.tokens.session else {
                takeOver(found)
                return false
            }
            kept = found
            if state.finishElsewhere(number, found, date: time.date) {
                renewed()
                end(refresh, .success(()))
                return false
            }
            tokens = found
        } else if found == nil, kept != nil {
            guard canObtain else {
                takeOver(nil)
                return false
            }
            kept = nil
        }
        return true
    }

    /// Adopts the tokens of a new sign-in in another process, or its sign-out if `tokens` is nil. Calls in this process
    /// that wait for a refresh fail, because they belong to the earlier sign-in.
    func takeOver(_ tokens: Tokens?) {
        (kept, isFromRefresh) = (tokens, false)
        if let tokens { state.signIn(tokens, isKept: true, date: time.date) } else { _ = state.signOut() }
        publishPrincipal()
        abandonRefresh(with: tokens == nil ? Self.signedOut : Self.replaced)
        announce(tokens == nil ? .signedOut : .signedIn)
    }
}
