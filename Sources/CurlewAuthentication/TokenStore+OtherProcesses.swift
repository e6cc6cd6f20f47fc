// SPDX-License-Identifier: MIT

import CurlewCore

/// Coordinates the refreshes of processes that share the tokens: one process refreshes at a time, and it refreshes only
/// tokens that no other process has refreshed.
extension TokenStore {
    /// The next step of a refresh, once no other process is refreshing the tokens.
    enum Turn: Sendable {
        /// Refresh these tokens, and release the lock when the new tokens are stored.
        case renew(Tokens?, FileLock?)
        /// Another process has refreshed the tokens.
        case renewed(Tokens)
        case failed(any Error)
        /// Do nothing: the refresh was cancelled, or another process has signed out or in again.
        case over
    }

    /// Waits until no other process is refreshing, takes the lock, and returns what this refresh must do, depending on
    /// whether another process has changed the stored tokens.
    ///
    /// - `limit`: the maximum wait. After that the refresh fails, without a request to the server.
    func turn(of number: UInt64, _ tokens: Tokens?, canObtain: Bool, limit: Duration) async -> Turn {
        guard let shared = persistence as? any SharedTokens else { return .renew(tokens, nil) }
        let lock: FileLock?
        do {
            lock = try await shared.lockForRenewal(until: Deadline(limit, after: time.now), on: time)
        } catch is DeadlinePassed {
            return .failed(
                NetworkError(
                    .storage, detail: "Another process has been refreshing them for \(limit.brief).",
                    hint: "Check whether that process has stopped. The lock is released when it ends."))
        } catch {
            return .failed(error)
        }
        // Before the comparison, the file must contain the pending changes of this process.
        if isSaving || nextSave != nil { try? await save() }
        guard problem == nil, let found = await read(shared) else { return .renew(tokens, lock) }
        let turn = turn(of: number, tokens, found.tokens, canObtain)
        guard case .renew(let tokens, _) = turn else {
            lock?.release()
            return turn
        }
        return .renew(tokens, lock)
    }

    /// Returns the stored tokens; nil if they cannot be read, so that the tokens of this process are used.
    private func read(_ shared: any SharedTokens) async -> (tokens: Tokens?, ())? {
        do { return (try await Task.detached { try await shared.load() }.value, ()) } catch { return nil }
    }

    private func turn(of number: UInt64, _ tokens: Tokens?, _ found: Tokens?, _ canObtain: Bool) -> Turn {
        guard state.isUnderWay(number) else { return .over }
        if let found, !found.isSame(as: kept) {
            guard canObtain || found.session == state.current?.tokens.session else {
                takeOver(found)
                return .over
            }
            kept = found
            guard state.hasEnded(found, at: time.date) else { return .renewed(found) }
            state.adopt(found, date: time.date)
            return .renew(found, nil)
        }
        if found == nil, kept != nil {
            guard canObtain else {
                takeOver(nil)
                return .over
            }
            kept = nil
        }
        return .renew(tokens, nil)
    }

    /// Adopts the tokens of a new sign-in in another process, or its sign-out if `tokens` is nil. Calls in this process
    /// that wait for a refresh fail, because they belong to the earlier sign-in.
    func takeOver(_ tokens: Tokens?) {
        (kept, isFromRefresh) = (tokens, false)
        if let tokens { state.signIn(tokens, isKept: true, date: time.date) } else { _ = state.signOut() }
        publishPrincipal()
        failPendingRefreshes(with: tokens == nil ? Self.signedOut : Self.replaced)
        announce(tokens == nil ? .signedOut : .signedIn)
    }
}
