// SPDX-License-Identifier: MIT

/// The topic of an authentication challenge of URLSession.
enum ChallengeTopic: CaseIterable, Sendable {
    /// Trust of the server's certificate.
    case serverTrust
    /// The client certificate to present to the server.
    case clientCertificate
    /// Credentials for the proxy.
    case proxy
    /// Credentials for the server, after a 401 response.
    case account
}

/// How a challenge of URLSession is handled on Apple platforms.
enum ChallengeVerdict: Equatable, Sendable {
    /// By the transport's configuration: its roots and pins, its client identity, its proxy credentials.
    case own
    /// By the system, as without a delegate: its roots, and the identities and proxy credentials that device management
    /// or the settings have stored.
    case system
    /// The challenge is declined: the response that requests credentials is the result.
    case decline

    /// Decides how to handle a challenge.
    ///
    /// - `isConfigured`: the transport's configuration covers the topic.
    /// - `failures`: how often a response to the challenge was rejected before.
    init(_ topic: ChallengeTopic, isConfigured: Bool, failures: Int) {
        switch topic {
        case .serverTrust: self = isConfigured ? .own : .system
        case .clientCertificate: self = isConfigured && failures == 0 ? .own : .system
        // Configured credentials are not replaced by others that the system may have.
        case .proxy where isConfigured: self = failures == 0 ? .own : .decline
        case .proxy: self = .system
        // Interceptors attach credentials, identically for every transport.
        case .account: self = .decline
        }
    }
}
