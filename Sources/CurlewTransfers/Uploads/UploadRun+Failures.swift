// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension UploadRun {
    /// Decides what follows a failure.
    mutating func failed(_ error: NetworkError, _ random: Double) -> Action {
        let isTransfer = state == .asking || state == .appending
        guard case .status(let status) = error.reason else {
            return error.isRetryable ? retry(error, random) : end(.fail(error))
        }
        switch status.code {
        case 404 where isTransfer, 410 where isTransfer: return restart(error)
        case 409 where state == .appending: return conflict(error)
        case 423, 460: return retry(error, random)
        case 412: return end(.fail(error.advised("The server does not support this version of the protocol.")))
        case 413:
            return end(.fail(error.advised("The request was too large. Set a smaller options.chunkSize.")))
        case 500...599: return [501, 505].contains(status.code) ? end(.fail(error)) : retry(error, random)
        default: return error.isRetryable ? retry(error, random) : end(.fail(error))
        }
    }

    /// The server has another offset than this client assumes: an earlier request has arrived after all.
    private mutating func conflict(_ error: NetworkError) -> Action {
        failures += 1
        return failures > plan.maximumFailures ? end(.fail(error)) : ask()
    }

    mutating func retry(_ error: NetworkError, _ random: Double) -> Action {
        failures += 1
        guard failures <= plan.maximumFailures else {
            return end(.fail(error.advised("The upload failed \(failures) times without progress. Resume it later.")))
        }
        state = .waiting
        return .wait(Self.pause(after: failures, asked: error.retryAfter, most: plan.maximumWait, random))
    }

    /// Begins again, once, because the server does not have the upload any more.
    mutating func restart(_ error: NetworkError) -> Action {
        guard restarts == 0 else {
            return end(.fail(error.advised("The server lost the upload twice. Begin a new one.")))
        }
        restarts += 1
        url = nil
        expires = nil
        offset = 0
        highest = -1
        attempt = nil
        return create()
    }

    /// Returns the wait after a number of failures: what the server asked for, or a random time from a half to all of a
    /// bound that doubles from one second.
    static func pause(after failures: Int, asked: Duration?, most: Duration, _ random: Double) -> Duration {
        if let asked { return min(asked, most) }
        let bound = min(.seconds(Int64(1) << Int64(min(max(failures, 1), 20) - 1)), most)
        return bound * (0.5 + min(max(random, 0), 1) / 2)
    }

    /// Returns the absolute URL of `location`. A server must not move an upload from https to http.
    static func resolve(_ location: String, against base: String) throws(NetworkError) -> String {
        do {
            let asked = try URLParts(base)
            let parts = try URLParts(resolving: location, against: asked.origin, target: asked.target)
            guard parts.userinfo == nil else { throw URLProblem("contains a user name or password") }
            guard parts.origin.isSecure || !asked.origin.isSecure else {
                throw URLProblem("is not encrypted, but the request was; behind a proxy, tell the server its scheme")
            }
            return parts.origin.description + parts.target
        } catch {
            let message = (error as? URLProblem)?.message ?? "cannot be read"
            throw NetworkError(.badResponse, detail: "The Location of the upload \(message).")
        }
    }
}

extension NetworkError {
    func advised(_ hint: String) -> NetworkError {
        var copy = self
        copy.hint = hint
        return copy
    }
}
