// SPDX-License-Identifier: MIT

/// Renewing where several processes share the tokens: one of them at a time, and only what nobody else has renewed.
extension TokenStore {
    /// What a refresh is to do, once no other process renews.
    enum Turn: Sendable {
        /// Renew these. The lock is released when the new ones are kept.
        case renew(Tokens?, FileLock?)
        /// Another process has.
        case renewed(Tokens)
        case failed(any Error)
        /// Nothing: the tokens are not those of this sign-in any more.
        case over
    }

    /// Waits until no other process renews, and looks at what the last one has left.
    ///
    /// - `limit`: how long to wait at most. Then the refresh has failed, and nothing was sent.
    func turn(of number: UInt64, _ tokens: Tokens?, canObtain: Bool, limit: Duration) async -> Turn {
        guard let shared = persistence as? any SharedTokens else { return .renew(tokens, nil) }
        let lock: FileLock?
        do {
            lock = try await shared.lockForRenewal(until: Deadline(limit, after: time.now), on: time)
        } catch is DeadlinePassed {
            return .failed(
                NetworkError(
                    .storage, detail: "Another process has been renewing them for \(limit.brief).",
                    hint: "Look whether one has stopped while it did. The lock is free when it ends."))
        } catch {
            return .failed(error)
        }
        // Before the comparison the file has to hold what this process wants it to.
        if isSaving || nextSave != nil { try? await save() }
        guard problem == nil, let found = await read(shared) else { return .renew(tokens, lock) }
        let turn = turn(of: number, tokens, found.tokens, canObtain)
        guard case .renew(let tokens, _) = turn else {
            lock?.release()
            return turn
        }
        return .renew(tokens, lock)
    }

    /// Nil if what is kept cannot be read: our own tokens are as good as any then.
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

    /// Somebody signed out in another process, or in as somebody else. Who waits here waits for tokens of another sign-in.
    func takeOver(_ tokens: Tokens?) {
        (kept, isFromRefresh) = (tokens, false)
        if let tokens { state.signIn(tokens, isKept: true, date: time.date) } else { _ = state.signOut() }
        publishPrincipal()
        ground(with: tokens == nil ? Self.signedOut : Self.replaced)
        announce(tokens == nil ? .signedOut : .signedIn)
    }
}
