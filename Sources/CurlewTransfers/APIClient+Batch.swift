// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// Sends one request for each input, at most `concurrency` at the same time, and returns the results in input
    /// order:
    ///
    ///     let users = try await client.batch(ids) { .user(id: $0) }.map { try $0.get() }
    ///
    /// - `concurrency`: the maximum number of calls at the same time; less than 1 counts as 1. Default 8.
    /// - `request`: creates the request for an input, on the caller's actor. For a route or an endpoint, return
    ///   `GetUser(id: $0).decoding(User.self)`.
    ///
    /// An input is taken from its sequence only when its call can start. A failed call does not end the others. This
    /// method throws only if the task is cancelled: it then cancels all calls, starts no more, and throws `.cancelled`.
    /// It returns or throws when all of its calls have ended.
    public func batch<Inputs: Sequence, Value>(
        _ inputs: Inputs, concurrency: Int = 8, isolation: isolated (any Actor)? = #isolation,
        _ request: (Inputs.Element) -> Request<Value>
    ) async throws(NetworkError) -> [Result<Value, NetworkError>] {
        let results = await withTaskGroup(of: (Int, Result<Value, NetworkError>).self) { group in
            // Without this capture, the closure would resume on the global executor after each call.
            _ = isolation
            var results: [Result<Value, NetworkError>?] = []
            var iterator = inputs.makeIterator()
            while true {
                if results.count >= max(1, concurrency), let (index, result) = await group.next() {
                    results[index] = result
                }
                guard !Task.isCancelled, let input = iterator.next() else { break }
                let (index, call) = (results.count, request(input))
                results.append(nil)
                group.addTask { (index, await self.result(of: call)) }
            }
            for await (index, result) in group { results[index] = result }
            return results.compactMap(\.self)
        }
        if Task.isCancelled { throw NetworkError(.cancelled) }
        return results
    }

    private func result<Value>(of request: Request<Value>) async -> Result<Value, NetworkError> {
        do throws(NetworkError) {
            return .success(try await send(request))
        } catch {
            return .failure(error)
        }
    }
}
