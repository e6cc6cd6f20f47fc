// SPDX-License-Identifier: MIT

import Curlew

/// What can go wrong, as far as a screen can show the user something different.
public enum FilmError: Error, Hashable, Sendable {
    /// 401, or no user is signed in.
    case signedOut
    /// 404.
    case notFound
    /// 429, with the time to wait if the server names one.
    case tooOften(wait: Duration?)
    /// Any other 4xx, with the server's reason if it has one.
    case refused(String?)
    /// 5xx.
    case serverFailed(Int)
    /// There is no response, or none that can be read; with a sentence that says why.
    case noAnswer(String)

    /// What an error of a call means. Nil for a cancelled call, which is nothing to show.
    public init?(_ error: NetworkError) {
        switch error.reason {
        case .cancelled: return nil
        // The refresh of the tokens found no server, or one with a problem: the user is still signed in.
        case .notAuthenticated(.refreshFailed): self = .noAnswer(error.message)
        case .status(.unauthorized), .notAuthenticated: self = .signedOut
        case .status(.notFound): self = .notFound
        case .status(.tooManyRequests): self = .tooOften(wait: error.retryAfter)
        case .status(let status) where status.isClientError:
            self = .refused(error.body(as: ServiceError.self).map { String($0.message.prefix(200)) })
        case .status(let status) where status.isServerError: self = .serverFailed(status.code)
        default: self = .noAnswer(error.message)
        }
    }

    /// What the service says of its own errors.
    struct ServiceError: Decodable {
        let message: String
        let code: String?
    }
}

extension FilmError: LocalizedError {
    /// One or two sentences for the screen.
    public var message: String {
        switch self {
        case .signedOut: "Sign in to do this."
        case .notFound: "This film is not in the catalogue."
        case .tooOften(let wait?): "That was too often. Try again in \(wait.components.seconds) s."
        case .tooOften(nil): "That was too often. Try again in a moment."
        case .refused(let words?): words
        case .refused(nil): "The catalogue does not take this."
        case .serverFailed(let status): "The catalogue has a problem (\(status)). Try again later."
        case .noAnswer(let why): why
        }
    }

    /// The same, for Foundation.
    public var errorDescription: String? { message }
}
