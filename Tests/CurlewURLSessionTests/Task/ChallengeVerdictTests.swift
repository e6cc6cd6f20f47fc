// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// Who answers what URLSession asks on Apple platforms.
@Suite(.timeLimit(.minutes(1)))
struct ChallengeVerdictTests {
    private func verdict(_ topic: ChallengeTopic, _ isConfigured: Bool, failures: Int = 0) -> ChallengeVerdict {
        ChallengeVerdict(topic, isConfigured: isConfigured, failures: failures)
    }

    @Test("Without a setting the system responds, and only for accounts of the system")
    func plain() {
        for failures in 0...2 {
            #expect(verdict(.serverTrust, false, failures: failures) == .system)
            #expect(verdict(.clientCertificate, false, failures: failures) == .system)
            #expect(verdict(.proxy, false, failures: failures) == .system)
            #expect(verdict(.account, false, failures: failures) == .decline)
        }
    }

    @Test("The configuration's credential counts; a refused one is not tried again")
    func configured() {
        for failures in 0...2 {
            #expect(verdict(.serverTrust, true, failures: failures) == .own, "a connection's trust is judged each time")
        }
        #expect(verdict(.clientCertificate, true) == .own)
        #expect(verdict(.clientCertificate, true, failures: 1) == .system)
        #expect(verdict(.proxy, true) == .own)
        #expect(verdict(.proxy, true, failures: 1) == .decline)
    }

    @Test("Credentials for a server are never given here", arguments: [false, true])
    func account(isConfigured: Bool) {
        for failures in 0...2 { #expect(verdict(.account, isConfigured, failures: failures) == .decline) }
    }

    @Test("A thousand refusals are remembered at most, and the latest is one of them")
    func refusals() throws {
        var refusals = Refusals()
        let origins = try (0...1000).map { try #require(Origin(scheme: "https", host: "h\($0).example")) }
        for origin in origins { refusals[origin] = NetworkError(.cancelled) }
        #expect(origins.count { refusals[$0] != nil } <= 1000 && refusals[origins[1000]] != nil)
        refusals[origins[1000]] = nil
        #expect(refusals[origins[1000]] == nil)
    }
}
