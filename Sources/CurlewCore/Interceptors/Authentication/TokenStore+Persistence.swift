// SPDX-License-Identifier: MIT

/// Loading and saving. An actor takes other calls while it waits, so both are explicit about who may do what; and both run
/// on tasks of their own, which no caller's cancellation reaches.
extension TokenStore {
    func load() async throws {
        guard !isLoaded else { return }
        if let loading { return try await loading.wait() }
        let work = OneShot<Void>()
        loading = work
        Task.detached { [persistence] in
            do {
                await self.loaded(work, .success(try await persistence.load()))
            } catch {
                await self.loaded(work, .failure(error))
            }
        }
        try await work.wait()
    }

    private func loaded(_ work: OneShot<Void>, _ result: Result<Tokens?, any Error>) {
        loading = nil
        // Whoever signed in or out meanwhile knows better.
        guard !isLoaded else {
            work.finish(.success(()))
            return
        }
        switch result {
        case .success(let tokens):
            isLoaded = true
            if let tokens { state.signIn(tokens, isKept: true, date: time.date) }
            publishPrincipal()
            work.finish(.success(()))
        case .failure(let error):
            work.finish(
                .failure(
                    NetworkError(
                        .storage, detail: "The tokens that were kept cannot be read.",
                        hint: "Sign in again, which replaces them.", underlying: error)))
        }
    }

    /// Writes the present tokens. What changes during a write is written by the next one, so the last state is written
    /// last. Cancelling the caller ends its wait and not the writing.
    func save() async throws {
        let mine = OneShot<Void>()
        unsaved.append(mine)
        if !isSaving {
            isSaving = true
            Task.detached { await self.saveAll() }
        }
        try await mine.wait()
    }

    private func saveAll() async {
        while !unsaved.isEmpty {
            let waiting = unsaved
            unsaved = []
            let (persistence, tokens) = (persistence, state.current?.tokens)
            let result = await Task.detached { try await persistence.save(tokens) }.result.mapError { error in
                NetworkError(
                    .storage, detail: "The tokens could not be kept; they are used until the process ends.",
                    underlying: error) as any Error
            }
            for waiter in waiting { waiter.finish(result) }
        }
        isSaving = false
    }
}
