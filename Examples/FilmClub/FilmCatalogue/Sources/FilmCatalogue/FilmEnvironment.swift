// SPDX-License-Identifier: MIT

import Curlew

/// Where the service is.
public enum FilmEnvironment: Hashable, Sendable {
    /// What all views use.
    case production
    /// What comes next.
    case staging
    /// A service on this machine, by its URL.
    case local(String)

    /// Where paths begin.
    public var baseURL: BaseURL {
        switch self {
        case .production: "https://films.example.com"
        case .staging: "https://staging.films.example.com"
        case .local(let url): "\(url)"
        }
    }

    /// For a menu.
    public var name: String {
        switch self {
        case .production: "Production"
        case .staging: "Staging"
        case .local(let url): "Local, \(url)"
        }
    }
}
