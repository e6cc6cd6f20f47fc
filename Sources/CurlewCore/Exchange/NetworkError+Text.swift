// SPDX-License-Identifier: MIT

public import CurlewFoundation
import CurlewHTTP

/// Messages for the user. They contain no URL, no type name and no text from the server.
extension NetworkError: LocalizedError {
    /// One English sentence that describes what happened.
    public var message: String {
        switch reason {
        case .cancelled: "The request was cancelled."
        case .invalidRequest: "The request could not be made."
        case .configuration: "The app is not set up correctly for this request."
        case .encoding: "The data could not be prepared for sending."
        case .unreachable: isOffline ? "There seems to be no network connection." : "The server could not be reached."
        case .proxyFailed: "The network's proxy did not let the request through."
        case .secureConnectionFailed(.expired), .secureConnectionFailed(.notYetValid):
            "The server's certificate is not valid at this time."
        case .secureConnectionFailed: "A secure connection to the server could not be made."
        case .timedOut(.queue): "There were too many requests at the same time."
        case .timedOut: "The server took too long to respond."
        case .connectionLost: "The connection was lost."
        case .badResponse: "The server's response could not be understood."
        case .limitExceeded(.redirects): "The server redirected the request without a result."
        case .limitExceeded: "The server's response was too large."
        case .status(let status): Self.message(forStatus: status.code)
        case .decoding: "The server's response was not as expected."
        case .notAuthenticated(.refreshFailed): "Your sign-in could not be renewed."
        case .notAuthenticated: "You are not signed in."
        case .refused(let policy): policy.message
        case .storage: "A file could not be read or written."
        case .interceptor: "Something went wrong."
        }
    }

    private static func message(forStatus code: Int) -> String {
        switch code {
        case 401: "You are not signed in."
        case 403: "You do not have permission to do this."
        case 404, 410: "This was not found."
        case 409, 412: "This has been changed since."
        case 413: "This is too large for the server."
        case 408, 504: "The server took too long to respond."
        case 429: "There were too many requests."
        case 400...499: "The server did not accept the request."
        case 503: "The service is not available right now."
        case 500...599: "The server had a problem."
        default: "The server sent an unexpected response."
        }
    }

    private static func suggestion(toWait wait: Duration) -> String {
        let seconds = wait.components.seconds
        return switch seconds {
        case ...1: "Try again in a second."
        case ...120: "Try again in \(seconds) seconds."
        default: "Try again in \((seconds + 59) / 60) minutes."
        }
    }

    /// The same as `message`. Foundation uses it for `localizedDescription`.
    public var errorDescription: String? { message }

    /// English advice for the user, such as `Sign in and try again.`; nil if there is none.
    public var recoverySuggestion: String? {
        switch reason {
        case .unreachable, .connectionLost: "Check the network connection and try again."
        case .timedOut, .notAuthenticated(.refreshFailed): "Try again in a moment."
        case .secureConnectionFailed(.expired), .secureConnectionFailed(.notYetValid):
            "Check that the date and time of this device are right."
        case .secureConnectionFailed: "Do not enter personal data. Try again on another network."
        case .notAuthenticated, .status(.unauthorized): "Sign in and try again."
        case .status(.tooManyRequests): retryAfter.map(Self.suggestion(toWait:)) ?? "Try again in a moment."
        case .refused(let policy) where policy.mayPass:
            retryAfter.map(Self.suggestion(toWait:)) ?? "Try again in a moment."
        case .status(let status) where status.isServerError: "Try again later."
        default: nil
        }
    }
}
