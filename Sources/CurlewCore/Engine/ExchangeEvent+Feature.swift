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

extension ExchangeEvent.Feature {
    /// The name `custom`.
    public var name: String { "custom" }
}

extension HTTPResponse {
    /// A copy of the response for observers: with a body in memory of at most 16 KiB, or an empty one, and with
    /// `secrets` declared in its header fields.
    func forObservers(_ secrets: DeclaredSecrets) -> HTTPResponse {
        var response = self
        response.body = response.body.outline
        secrets.declare(in: &response.headers)
        return response
    }
}
