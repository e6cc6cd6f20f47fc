// SPDX-License-Identifier: MIT

/// What URLSession asks about.
enum ChallengeTopic: CaseIterable, Sendable {
    /// Whether the server's certificate is to be trusted.
    case serverTrust
    /// Which certificate to show to the server.
    case clientCertificate
    /// Credentials for the proxy.
    case proxy
    /// Credentials for the server: what an answer with 401 asks for.
    case account
}

/// Who answers a question of URLSession on Apple platforms.
enum ChallengeVerdict: Equatable, Sendable {
    /// The transport's configuration: its roots and pins, its client identity, its proxy's credentials.
    case own
    /// The system, as it does without a delegate: its roots, and the identities and proxy credentials that a device
    /// management or the settings have stored.
    case system
    /// Nobody: the answer that asks for credentials is the result.
    case decline

    /// - `isConfigured`: the transport's configuration says something about it.
    /// - `failures`: how often an answer was refused before.
    init(_ topic: ChallengeTopic, isConfigured: Bool, failures: Int) {
        switch topic {
        case .serverTrust: self = isConfigured ? .own : .system
        case .clientCertificate: self = isConfigured && failures == 0 ? .own : .system
        // Credentials that the configuration names are not replaced by others that the system may know.
        case .proxy where isConfigured: self = failures == 0 ? .own : .decline
        case .proxy: self = .system
        // Credentials are attached by interceptors, the same on every engine.
        case .account: self = .decline
        }
    }
}
