// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Redirect {
    /// A decision about a redirect: `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: FeatureEvent {
        /// A redirect is followed. Later events belong to its next hop.
        case followed(Redirect)
        /// A redirect response is returned to the caller, for the reason given in one redacted sentence.
        case kept(HTTPResponse, because: String)

        /// One line: the redirect, or the status and the reason.
        public var description: String {
            switch self {
            case .followed(let redirect): "\(redirect)"
            case .kept(let response, let reason): "\(response.status.code) is returned: \(reason)".printable
            }
        }
    }
}

extension Redirect.Event: CapabilityEvent {
    package var withoutTransfer: Redirect.Event {
        if case .kept(let response, let reason) = self {
            .kept(response.withoutTransfer, because: reason)
        } else {
            self
        }
    }

    package func withholding(_ secrets: DeclaredSecrets) -> Redirect.Event {
        guard case .kept(let response, let reason) = self else { return self }
        return .kept(response.withholding(secrets), because: reason)
    }
}
