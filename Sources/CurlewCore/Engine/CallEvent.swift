// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// A receiver of the events of calls: counters, recorders, logs and traces of this package, and the queue of an app's
/// observers.
///
/// `receive` is called on the thread that records an event: concurrently for different requests, in order for the
/// events of one request, and while locks of the client are held. It must return soon, and must not call the client.
package protocol EventSink: Sendable {
    /// The events that the sink receives. The client reads the value once, and creates no event that no sink receives.
    var detail: CallEvent.Detail { get }

    func receive(_ event: CallEvent, in context: ExchangeContext)
}

/// An event as sinks receive it: an `ExchangeEvent` with what only the client knows about it.
///
/// Requests and responses are as the client has them: a body may be in transfer, and only `ExchangeContext.secrets` has
/// all declared secrets. A sink does not keep them. Errors and the content of `other` are as observers receive them.
package enum CallEvent: Sendable {
    /// A call begins. Here and at the end of the call, the request is as it was before interceptors changed it.
    case began(HTTPRequest)
    case sent(HTTPRequest)
    case answered(HTTPResponse)
    case attemptFailed(NetworkError)
    /// A request on the wire has ended: `ExchangeEvent.measured`. The outcome is a status if a response head has
    /// arrived. `bodySize` is the number of decoded bytes of a body that arrived together with its head; nil for a
    /// streamed body, and without a response.
    case ended(HTTPMethod, Origin, NetworkError.Attempt.Outcome, bodySize: Int?, ExchangeMetrics)
    /// `requests` is the number of requests on the wire, over all attempts and hops.
    case succeeded(HTTPRequest, HTTPResponse, after: Duration, requests: Int)
    /// The request is nil if it could not be built. Such a call has not begun.
    case failed(HTTPRequest?, NetworkError, after: Duration, requests: Int)
    /// Any other event. Indirect, because an event that contains an existential is passed in memory, and each message
    /// in it would be copied: a dozen retained objects.
    indirect case other(ExchangeEvent)

    /// The events that a sink receives. Each case includes the events of those before it.
    package enum Detail: Comparable, Sendable {
        /// Calls, measurements and decisions: every event that the other cases do not list.
        case calls
        /// The messages of each request on the wire: `sent`, `answered` and `attemptFailed`.
        case requests
        /// The phases of connections: `ExchangeEvent.connecting`.
        case connections
    }

    /// The lowest detail that includes the event.
    var detail: Detail {
        switch self {
        case .sent, .answered, .attemptFailed: .requests
        case .other(.connecting): .connections
        default: .calls
        }
    }

    /// Returns the event for observers; see `ExchangeEvent.forObservers`.
    func forObservers(_ secrets: DeclaredSecrets) -> ExchangeEvent {
        switch self {
        case .began(let request): .began(request.knowing(secrets))
        case .sent(let request): .sent(request.knowing(secrets))
        case .answered(let response): .answered(response.forObservers(secrets))
        case .attemptFailed(let error): .attemptFailed(error)
        case .ended(_, _, _, _, let metrics): .measured(metrics)
        case .succeeded(_, let response, let duration, _): .succeeded(response.forObservers(secrets), after: duration)
        case .failed(_, let error, let duration, _): .failed(error, after: duration)
        case .other(let event): event
        }
    }
}

/// The sinks of a client, in the order in which they receive an event.
final class EventSinks: Sendable {
    // Not a tuple: the runtime copies one with a loop over its types.
    private struct Entry {
        let sink: any EventSink
        let detail: CallEvent.Detail
    }

    private let sinks: [Entry]
    /// The highest detail of the sinks.
    let detail: CallEvent.Detail
    /// The last sink, for whose observers calls wait at their ends; nil if there are none.
    let queue: EventQueue?

    private init(_ sinks: [any EventSink], _ queue: EventQueue?) {
        self.sinks = sinks.map { Entry(sink: $0, detail: $0.detail) }
        self.queue = queue
        detail = self.sinks.map(\.detail).max() ?? .calls
    }

    /// Creates the sinks for the observers of a client; nil without observers. Those of the app share a queue.
    convenience init?(_ observers: [any RequestObserver]) {
        if observers.isEmpty { return nil }
        let waiting = observers.filter { !($0 is any EventSink) }
        let queue = waiting.isEmpty ? nil : EventQueue(waiting)
        self.init(observers.compactMap { $0 as? any EventSink } + (queue.map { [$0] } ?? []), queue)
    }

    /// Returns `others` with more sinks before them.
    static func adding(_ sinks: [any EventSink], before others: EventSinks?) -> EventSinks? {
        sinks.isEmpty ? others : EventSinks(sinks + (others?.sinks.map(\.sink) ?? []), others?.queue)
    }

    /// Passes an event to the sinks that receive its detail.
    func receive(_ event: CallEvent, in context: ExchangeContext) {
        let detail = event.detail
        for each in sinks where each.detail >= detail { each.sink.receive(event, in: context) }
    }
}
