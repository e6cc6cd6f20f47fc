// SPDX-License-Identifier: MIT

/// The topic of an authentication challenge of URLSession.
enum ChallengeTopic: CaseIterable, Sendable {
    /// Whether the server's certificate is trusted.
    case serverTrust
    /// The client certificate to present to the server.
    case clientCertificate
    /// Credentials for the proxy.
    case proxy
    /// Credentials for the server, after a 401 response.
    case account
}

/// The decision about an authentication challenge of URLSession on Apple platforms.
enum ChallengeVerdict: Equatable, Sendable {
    /// The transport responds from its configuration: roots and pins, the client identity, or proxy credentials.
    case own
    /// The system responds as it does without a delegate: with its roots, and with the identities and proxy credentials
    /// that device management or the settings have stored.
    case system
    /// The challenge is declined, so that the exchange returns the response that requests credentials.
    case decline

    /// Decides about a challenge.
    ///
    /// - `isConfigured`: whether the transport's configuration contains what the challenge is about.
    /// - `failures`: the number of earlier responses to the challenge that were rejected.
    init(_ topic: ChallengeTopic, isConfigured: Bool, failures: Int) {
        switch topic {
        case .serverTrust: self = isConfigured ? .own : .system
        case .clientCertificate: self = isConfigured && failures == 0 ? .own : .system
        // Configured credentials must not be replaced by credentials that the system has stored.
        case .proxy where isConfigured: self = failures == 0 ? .own : .decline
        case .proxy: self = .system
        // Interceptors attach credentials, and do so identically for every transport.
        case .account: self = .decline
        }
    }
}
