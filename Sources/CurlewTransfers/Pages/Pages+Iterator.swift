// SPDX-License-Identifier: MIT

public import CurlewCore

extension Pages {
    /// Loads one page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let plan: Plan
        private var state = State()

        /// The state that decides whether another page is requested: a value without I/O.
        private struct State {
            /// The position of the next page; nil for the first one.
            var position: Position?
            var hasEnded = false
            var count = 0
            /// The hashes of the positions that were requested.
            var visited: Set<Int> = []
        }

        init(_ plan: Plan) {
            self.plan = plan
            state.position = plan.start
        }

        /// Returns the next page, or nil after the last one. Throws `NetworkError`, and returns nil afterwards.
        public mutating func next() async throws(NetworkError) -> Page? {
            guard !state.hasEnded else { return nil }
            do throws(NetworkError) {
                let page = try await load()
                state.position = page.next
                state.hasEnded = page.next == nil
                return page
            } catch {
                end()
                throw error
            }
        }

        mutating func end() { state.hasEnded = true }

        private mutating func load() async throws(NetworkError) -> Page {
            guard !Task.isCancelled else { throw NetworkError(.cancelled) }
            try admit()
            let page = try await plan.page(at: state.position)
            if state.count == 1, state.position == nil { state.visited.insert(page.response.url.hashValue) }
            return page
        }

        /// Counts the page that is about to be requested. Throws if it must not be.
        private mutating func admit() throws(NetworkError) {
            if let refusal = state.position?.refusal {
                throw NetworkError(
                    .refused(by: .pages), detail: refusal, hint: "Request the URL yourself, if it is trusted.")
            }
            guard state.count < plan.pageLimit else {
                throw NetworkError(
                    .refused(by: .pages), detail: "The list has more than \(plan.pageLimit) pages.",
                    hint: "Raise pageLimit, or continue with the position of the last page.")
            }
            guard state.position.map({ !state.visited.contains($0.token.hashValue) }) ?? true else {
                throw NetworkError(
                    .refused(by: .pages), detail: "A page leads to a page that was requested before.",
                    hint: "The server repeats its pages; check how the next page is found.")
            }
            if let position = state.position { state.visited.insert(position.token.hashValue) }
            state.count += 1
        }
    }
}

extension Pages.Plan {
    func page(at position: Pages.Position?) async throws(NetworkError) -> Pages.Page {
        let response = try await client.response(for: next.request(self, position))
        do {
            return Pages.Page(response: response, next: try next.position(response, position, self))
        } catch {
            throw NetworkError(error)
        }
    }
}
