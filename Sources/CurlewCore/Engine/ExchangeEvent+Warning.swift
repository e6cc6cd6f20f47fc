// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension ExchangeEvent {
    /// A problem that a transport noticed without failing the call. Later versions may add cases.
    @nonexhaustive
    public enum Warning: Hashable, Sendable {
        /// The server's key is not in the report-only set of pins of the host. `found` is the pin of that key. With
        /// `TransportConfiguration.TLS.PinSet.Scope.verifiedChain`, `found` lists the pins of the verified path, the
        /// server's own first, separated by a comma and a space.
        case pinMismatch(host: String, found: String)
        /// The host's set of pins has expired and is no longer enforced.
        case pinsExpired(host: String, on: Date)
        /// The host's set of pins expires in less than 30 days.
        case pinsExpireSoon(host: String, on: Date)
    }
}

extension ExchangeEvent.Warning: CustomStringConvertible {
    /// A sentence that describes the problem for a developer.
    public var description: String {
        switch self {
        case .pinMismatch(let host, let found): "\(host) has no pinned key, but \(found) (report only)."
        case .pinsExpired(let host, let date): "The pins of \(host) expired at \(date) and are not enforced."
        case .pinsExpireSoon(let host, let date): "The pins of \(host) expire at \(date)."
        }
    }
}
