// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation

/// Loads and saves the tokens on separate tasks, so that the cancellation of a caller does not affect them. Both
/// operations handle reentrancy, because other functions of the actor run while one waits.
extension TokenStore {
    /// Loads the stored tokens, once for all calls. Throws `.storage` if there may be tokens that cannot be read,
    /// `DeadlinePassed` after `deadline`, and `CancellationError` if the caller is cancelled.
    func load(until deadline: SystemTime.Deadline, on clock: any TimeSource) async throws {
        guard !isLoaded else { return }
        let work = loading ?? SharedResult<Void>()
        if loading == nil {
            loading = work
            Task.detached { await self.load(for: work) }
        }
        try await work.wait(until: deadline, on: clock)
    }

    private func load(for work: SharedResult<Void>) async {
        let result = await Self.stored(in: persistence)
        loading = nil
        do {
            let tokens = try result.get()
            // A sign-in or sign-out during the load takes precedence.
            if !isLoaded {
                (isLoaded, kept) = (true, tokens)
                if let tokens { state.signIn(tokens, isKept: true, date: time.date) }
                publishPrincipal()
            }
            work.finish(.success(()))
        } catch {
            let failure = Self.storageError(
                "The stored tokens cannot be read.", "Sign in again to replace them.", error)
            work.finish(isLoaded ? .success(()) : .failure(failure))
        }
    }

    /// Reads the stored tokens, outside of the actor.
    @concurrent
    static func stored(in persistence: (any TokenStore.Persistence)?) async -> Result<Tokens?, any Error> {
        do {
            let tokens = try await persistence?.load()
            try tokens?.check()
            return .success(tokens)
        } catch {
            return .failure(error)
        }
    }

    /// Stores the current tokens, or removes the stored ones when signed out. Every change is saved automatically, so
    /// call this only to try again after a failure (`problem`). It does nothing before the stored tokens have been
    /// loaded, and without a storage.
    ///
    /// Changes during a write are part of the next write, so the last state is written last. Throws `.storage` if the
    /// tokens cannot be stored within `TokenStore.RefreshPolicy.timeout`, and `.cancelled`. After the timeout or a
    /// cancellation, the write continues.
    public func save() async throws(NetworkError) {
        guard isLoaded, persistence != nil else { return }
        let mine = nextSave ?? SharedResult<Void>()
        nextSave = mine
        if !isSaving {
            isSaving = true
            Task.detached { await self.saveAll() }
        }
        do {
            try await mine.wait(until: SystemTime.Deadline(policy.timeout, after: time.now), on: time)
        } catch is DeadlinePassed {
            let error = NetworkError(
                .storage,
                detail: "The tokens were not stored within \(policy.timeout.brief); storing them may still succeed.")
            failed(error)
            throw error
        } catch {
            throw NetworkError(error)
        }
    }

    private func saveAll() async {
        while let mine = nextSave {
            nextSave = nil
            let tokens = state.newest
            do {
                let replaceable: Tokens?? = isFromRefresh && problem == nil ? .some(kept) : nil
                switch try await Self.write(tokens, replacing: replaceable, in: persistence) {
                case .replaced: kept = tokens
                // A sign-in or sign-out in this process takes precedence, and is written next.
                case .other(let other) where nextSave == nil:
                    kept = other
                    adopt(other, isKept: true)
                case .other: break
                }
                problem = nil
                mine.finish(.success(()))
            } catch {
                let error = Self.storageError(
                    "The tokens could not be stored; they are used until the process ends.", nil, error)
                failed(error)
                mine.finish(.failure(error))
            }
        }
        isSaving = false
    }

    /// Writes the tokens, outside of the actor. The result of a refresh replaces only the tokens that were refreshed,
    /// because another process may have signed out or in during the refresh.
    ///
    /// - `kept`: the tokens that may be replaced; nil if any may be.
    @concurrent
    private static func write(
        _ tokens: Tokens?, replacing kept: Tokens??, in persistence: (any TokenStore.Persistence)?
    ) async throws -> StoredTokens.Replacement {
        if let kept, let shared = persistence as? any SharedTokens {
            return try await shared.replace(kept, with: tokens)
        }
        try await persistence?.save(tokens)
        return .replaced
    }

    private func failed(_ error: NetworkError) {
        problem = error
        announce(.notKept)
    }

    /// Returns `error` if it is a `NetworkError` with `.storage`, because it is more specific. Otherwise returns an
    /// error with `detail` and `hint`.
    private static func storageError(_ detail: String, _ hint: String?, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError, error.reason == .storage { return error }
        return NetworkError(.storage, detail: detail, hint: hint, underlying: error)
    }

    /// A storage that keeps the tokens of a `TokenStore` between launches.
    ///
    /// A storage belongs to one store. The store runs one save at a time, and the last save has the newest tokens. A
    /// load may run during a save.
    public protocol Persistence: Sendable {
        /// Returns the tokens that were saved last; nil if there are none. Throws if tokens may be stored but cannot be
        /// read. The store passes any error on as `.storage`.
        func load() async throws -> Tokens?
        /// Replaces the stored tokens with `tokens`, entirely or not at all; nil removes them. Throws if that fails.
        func save(_ tokens: Tokens?) async throws
    }
}

/// The format of stored tokens, in a file or in the keychain: JSON with a version number.
enum StoredTokens {
    static let version = 1

    enum Problem: Error {
        case damaged
        case newer(Int)
        case unreadable(PrivateFile.Failure)
    }

    /// The result of `SharedTokens.replace(_:with:)`.
    enum Replacement: Sendable {
        case replaced
        /// The tokens were not replaced, because another process has changed them. Contains the stored tokens; nil if
        /// there are none.
        case other(Tokens?)
    }

    private struct Document: Codable {
        let version: Int
        let tokens: Tokens
    }

    private struct Header: Decodable {
        let version: Int
    }

    static func encode(_ tokens: Tokens) throws(NetworkError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            return try encoder.encode(Document(version: version, tokens: tokens))
        } catch {
            throw NetworkError(error)
        }
    }

    static func decode(_ data: Data) throws(Problem) -> Tokens {
        let decoder = JSONDecoder()
        if let header = try? decoder.decode(Header.self, from: data), header.version > version {
            throw .newer(header.version)
        }
        guard var tokens = try? decoder.decode(Document.self, from: data).tokens else { throw .damaged }
        // A program other than Curlew wrote the tokens, without a session. Every process that reads them must derive
        // the same session.
        if tokens.session == nil { tokens.session = MessageDigest.sha256(Data(tokens.accessToken.utf8)).hexText }
        return tokens
    }

    /// Returns whether `data` may be a damaged token file that still contains secrets. Call it for data that cannot be
    /// decoded.
    static func mayBeTokens(_ data: Data) -> Bool {
        data.indices.contains { data[$0...].starts(with: "oken".utf8) }
    }
}

/// A token storage that several processes share.
protocol SharedTokens: TokenStore.Persistence {
    /// Waits until the refresh lock is free, and acquires it. One process can hold it at a time. Returns nil if locks
    /// are not available.
    ///
    /// Throws `DeadlinePassed` and `CancellationError`.
    func lockForRenewal(until deadline: SystemTime.Deadline, on time: any TimeSource) async throws -> FileLock?

    /// Replaces the stored tokens with `new` if the stored tokens are still `old`. If `new` is nil, the stored tokens
    /// are removed.
    func replace(_ old: Tokens?, with new: Tokens?) async throws(NetworkError) -> StoredTokens.Replacement
}

extension Tokens {
    /// Returns whether both values have the same tokens and belong to the same sign-in. The expiry is not compared,
    /// because encoding may change it.
    func isSame(as other: Tokens?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken && session == other?.session
    }
}
