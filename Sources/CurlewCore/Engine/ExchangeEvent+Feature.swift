// SPDX-License-Identifier: MIT

extension ExchangeEvent {
    /// An event that one capability of the client defines, such as redirects or caching. Observers receive it as
    /// `ExchangeEvent.feature`:
    ///
    ///     case .feature(let event as RedirectPolicy.Event): print(event)
    ///
    /// The description is one line without secrets.
    public protocol Feature: Sendable, CustomStringConvertible {
        /// The name of the kind of event, for counters: lower-case words that are joined by dots and underscores, such
        /// as `cache.fresh`. It comes from a fixed set, and contains no value of the call. The default is `custom`.
        var name: String { get }
    }
}

/// An event of a capability that contains responses or errors, or that may occur after the end of its call.
package protocol CapabilityEvent: ExchangeEvent.Feature {
    /// A copy of the event without bodies that are still in transfer, because an event in the queue must not hold a
    /// connection.
    var withoutTransfer: Self { get }
    /// Whether the event may follow the end of its call.
    var mayFollowTheEnd: Bool { get }

    /// Returns the event with the secrets that a client and its interceptors declare, so that its description redacts
    /// them.
    func withholding(_ secrets: DeclaredSecrets) -> Self
}

extension ExchangeEvent.Feature {
    /// The name `custom`.
    public var name: String { "custom" }
}

extension CapabilityEvent {
    package var withoutTransfer: Self { self }
    package var mayFollowTheEnd: Bool { false }

    package func withholding(_ secrets: DeclaredSecrets) -> Self { self }
}

extension HTTPResponse {
    /// A copy of the response for observers. It keeps a body in memory of at most 16 KiB; any other body is empty.
    package var withoutTransfer: HTTPResponse {
        var response = self
        response.body = response.body.outline
        return response
    }

    /// Returns the response with `secrets` declared in its header fields, so that its description redacts them.
    package func withholding(_ secrets: DeclaredSecrets) -> HTTPResponse {
        var response = self
        secrets.declare(in: &response.headers)
        return response
    }
}
