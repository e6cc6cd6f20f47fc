// SPDX-License-Identifier: MIT

/// An event that a capability defines, such as a followed redirect or the verdict of a cache: `ExchangeEvent.feature`.
///
///     case .feature(let event as Redirect.Event): print(event)
///
/// The description is one line without secrets.
public protocol FeatureEvent: Sendable, CustomStringConvertible {}

/// An event of a capability that contains responses or errors, or that may occur after the end of its call.
package protocol CapabilityEvent: FeatureEvent {
    /// The event without a body that the caller reads, because a queued event must not hold a connection.
    var withoutTransfer: Self { get }
    /// Whether the event may follow the end of its call.
    var mayFollowTheEnd: Bool { get }

    /// Returns the event with the secrets that a client and its interceptors declare, so that its texts are redacted.
    func withholding(_ secrets: DeclaredSecrets) -> Self
}

extension CapabilityEvent {
    package var withoutTransfer: Self { self }
    package var mayFollowTheEnd: Bool { false }

    package func withholding(_ secrets: DeclaredSecrets) -> Self { self }
}

extension HTTPResponse {
    /// The response without a body that the caller reads.
    package var withoutTransfer: HTTPResponse {
        var response = self
        response.body = response.body.outline
        return response
    }

    /// Returns the response with declared secrets, which its texts redact.
    package func withholding(_ secrets: DeclaredSecrets) -> HTTPResponse {
        var response = self
        secrets.declare(in: &response.headers)
        return response
    }
}
