// SPDX-License-Identifier: MIT

import CurlewUI

/// Work that ends when the test says so, and counts how often it was begun.
@MainActor
final class Gate<Value: Sendable> {
    private(set) var begun = 0
    private(set) var cancelled = 0
    private var outcomes: [Int: SharedResult<Value>] = [:]

    /// The work: waits for the outcome with its number, counted from one.
    func work() async throws -> Value {
        begun += 1
        do {
            return try await outcome(begun).wait()
        } catch is CancellationError {
            cancelled += 1
            throw CancellationError()
        }
    }

    /// Ends the work with this number, begun or not.
    func end(_ value: Value, of number: Int = 1) { outcome(number).finish(.success(value)) }

    func fail(_ number: Int = 1, _ reason: NetworkError.Reason = .unreachable) {
        outcome(number).finish(.failure(NetworkError(reason)))
    }

    private func outcome(_ number: Int) -> SharedResult<Value> {
        if let outcome = outcomes[number] { return outcome }
        let outcome = SharedResult<Value>()
        outcomes[number] = outcome
        return outcome
    }
}

/// Lets everything run that can, until `condition` holds. Gives up after 30 s, so that a test fails rather than hangs.
@MainActor
func until(_ condition: @MainActor () -> Bool) async -> Bool {
    let time = SystemTime()
    let late = time.now.advanced(by: .seconds(30))
    while !condition() {
        guard time.now < late else { return false }
        await Task.yield()
    }
    return true
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable.State {
    /// The state in a word, for tables.
    var word: String {
        switch self {
        case .idle: "idle"
        case .loading(let previous): previous.map { "loading \($0)" } ?? "loading"
        case .loaded(let value, _): "\(value)"
        case .failed(let error, let previous): previous.map { "failed \($0)" } ?? "failed \(error.label)"
        }
    }
}
