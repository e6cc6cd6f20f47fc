// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewResilience
import CurlewStandard

/// What clients do about failures. The policies are those of the library, its defaults unless a line says otherwise.
struct Strategy: Sendable {
    let name: String
    /// Its line in plots.
    let colour: String
    var retry = RetryPolicy.standard
    var hasJitter = true
    var hasBudget = true
    var circuit: CircuitBreaker.Policy?

    static let none = Strategy(name: "no retries", colour: "#6b7280", retry: .never, hasBudget: false)
    static let plain = Strategy(
        name: "retries, no jitter, no budget", colour: "#b45309", hasJitter: false, hasBudget: false)
    static let jitter = Strategy(name: "retries with jitter, no budget", colour: "#dc2626", hasBudget: false)
    static let budget = Strategy(name: "retries with budget", colour: "#2563eb")
    static let full = Strategy(name: "retries with budget and breaker", colour: "#047857", circuit: .standard)

    static let all = [none, plain, jitter, budget, full]
}
