// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// No user gets another user's response from a shared exchange, whatever makes a call that user's call.
@Suite(.timeLimit(.minutes(2)))
struct CoalescingIdentityTests {
    @Test("Two users' concurrent calls share no exchange, by each kind of identity")
    func leaks() async throws {
        var (calls, leaks) = (0, [String]())
        for way in IdentityWay.all where way.source != .client {
            await Task.yield()
            let sharing = Sharing(way.pipeline(with: .coalescing())) { way.answer(to: $0, "private") }
            var tasks: [(user: String, task: Task<String, any Error>)] = []
            for user in ["ann", "bob"] {
                calls += 1
                let task = try await IdentityWay.$user.withValue(user) { try await sharing.begin(way.call()) }
                tasks.append((user, task))
            }
            sharing.origin.open()
            for (user, task) in tasks {
                let answer = try await task.value
                if answer != user { leaks.append("\(way): \(user) got the response of \(answer)") }
            }
        }
        #expect(calls == (Placement.allCases.count * 2 * 2 + 1) * 60 * 2)
        #expect(leaks.count == 0, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }
}
