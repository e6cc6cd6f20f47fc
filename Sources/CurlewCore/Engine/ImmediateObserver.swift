// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// An observer of this package that is notified on the thread that records an event, instead of on the queue: counters
/// and recorders, for which the queue would cost more than their work.
///
/// `record` and the other methods are called concurrently for different requests, in order for the events of one
/// request, and while locks of the client are held. They must return soon, and must not call the client.
package protocol ImmediateObserver: RequestObserver {
    /// The events that the observer receives. Default: all events, and no summaries.
    ///
    /// The client does not create an event that none of its observers receives, so an observer with few kinds is much
    /// cheaper than one with all. The client reads the value once.
    var kinds: ExchangeEvent.Kinds { get }

    /// A call begins. `request` is the request before interceptors changed it. Part of the summaries.
    func callBegan(_ request: HTTPRequest, in context: ExchangeContext)
    /// A request on the wire has ended, as with `ExchangeEvent.measured`. Part of the summaries.
    func requestEnded(
        _ request: SentRequest, _ outcome: RequestOutcome, _ metrics: ExchangeMetrics, in context: ExchangeContext)
    /// A call has ended with a response, as with `ExchangeEvent.succeeded`. `request` is the request before interceptors
    /// changed it. Part of the summaries.
    func callSucceeded(
        _ request: HTTPRequest, with response: HTTPResponse, _ outcome: CallOutcome, in context: ExchangeContext)
    /// A call has ended with an error, as with `ExchangeEvent.failed`. `request` is the request before interceptors
    /// changed it. Part of the summaries.
    func callFailed(
        _ request: HTTPRequest, with error: NetworkError, _ outcome: CallOutcome, in context: ExchangeContext)
    /// The request of a call could not be built. Such a call has not begun. Part of the summaries.
    func callNotSent(_ error: NetworkError, after duration: Duration, in context: ExchangeContext)

    /// The transport receives a request, as with `ExchangeEvent.sent`. Part of the heads.
    func requestSent(_ request: HTTPRequest, in context: ExchangeContext)
    /// The head of a response has arrived, as with `ExchangeEvent.answered`. Part of the heads.
    func responseReceived(_ response: HTTPResponse, in context: ExchangeContext)
    /// A request has ended without a response, as with `ExchangeEvent.attemptFailed`. Part of the heads.
    func requestFailed(_ error: NetworkError, in context: ExchangeContext)
}

extension ImmediateObserver {
    package var kinds: ExchangeEvent.Kinds { .events }
    package func callBegan(_ request: HTTPRequest, in context: ExchangeContext) {}
    package func requestEnded(
        _ request: SentRequest, _ outcome: RequestOutcome, _ metrics: ExchangeMetrics, in context: ExchangeContext
    ) {}
    package func callSucceeded(
        _ request: HTTPRequest, with response: HTTPResponse, _ outcome: CallOutcome, in context: ExchangeContext
    ) {}
    package func callFailed(
        _ request: HTTPRequest, with error: NetworkError, _ outcome: CallOutcome, in context: ExchangeContext
    ) {}
    package func callNotSent(_ error: NetworkError, after duration: Duration, in context: ExchangeContext) {}
    package func requestSent(_ request: HTTPRequest, in context: ExchangeContext) {}
    package func responseReceived(_ response: HTTPResponse, in context: ExchangeContext) {}
    package func requestFailed(_ error: NetworkError, in context: ExchangeContext) {}
}

/// The method and the origin of a request on the wire.
package struct SentRequest: Sendable {
    package let method: HTTPMethod
    package let origin: Origin

    package init(_ request: HTTPRequest) {
        method = request.method
        origin = request.origin
    }
}

/// The result of a request on the wire. `failure` is nil if a response head arrived.
package struct RequestOutcome: Sendable {
    package let status: HTTPStatus?
    package let failure: NetworkError.Reason?
    /// The number of decoded bytes of a body that arrived together with its head; nil for a streamed body.
    package let bodySize: Int?
}

/// The result of a call.
package struct CallOutcome: Sendable {
    /// The status of the response, including a response with which the call failed.
    package let status: HTTPStatus?
    /// The reason of a failed call.
    package let failure: NetworkError.Reason?
    package let duration: Duration
    /// The number of requests on the wire, over all attempts and hops.
    package let requests: Int

    init(_ status: HTTPStatus, after duration: Duration, requests: Int) {
        self.status = status
        failure = nil
        self.duration = duration
        self.requests = requests
    }

    package init(_ error: NetworkError, after duration: Duration, requests: Int) {
        if case .status(let status) = error.reason { self.status = status } else { status = error.response?.status }
        failure = error.reason
        self.duration = duration
        self.requests = requests
    }
}

extension ExchangeEvent {
    /// A set of kinds of events: those that an observer receives.
    package struct Kinds: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let began = Kinds(rawValue: 1)
        package static let joined = Kinds(rawValue: 1 << 1)
        package static let sent = Kinds(rawValue: 1 << 2)
        package static let connecting = Kinds(rawValue: 1 << 3)
        package static let interim = Kinds(rawValue: 1 << 4)
        package static let answered = Kinds(rawValue: 1 << 5)
        package static let attemptFailed = Kinds(rawValue: 1 << 6)
        package static let tried = Kinds(rawValue: 1 << 7)
        package static let feature = Kinds(rawValue: 1 << 8)
        package static let trailers = Kinds(rawValue: 1 << 9)
        package static let measured = Kinds(rawValue: 1 << 10)
        package static let lost = Kinds(rawValue: 1 << 11)
        package static let warned = Kinds(rawValue: 1 << 12)
        package static let succeeded = Kinds(rawValue: 1 << 13)
        package static let failed = Kinds(rawValue: 1 << 14)
        /// All events.
        package static let events = Kinds(rawValue: (1 << 15) - 1)
        /// The methods of `ImmediateObserver` that are part of the summaries. They need no event.
        ///
        /// The messages that they pass do not have the declared secrets: `ExchangeContext.secrets` has them.
        package static let summaries = Kinds(rawValue: 1 << 15)
        /// The methods of `ImmediateObserver` that are part of the heads. As the summaries, they need no event.
        package static let heads = Kinds(rawValue: 1 << 16)
    }

    /// The kind of the event.
    package var kind: Kinds {
        switch self {
        case .began: .began
        case .joined: .joined
        case .sent: .sent
        case .connecting: .connecting
        case .interim: .interim
        case .answered: .answered
        case .attemptFailed: .attemptFailed
        case .tried: .tried
        case .feature: .feature
        case .trailers: .trailers
        case .measured: .measured
        case .lost: .lost
        case .warned: .warned
        case .succeeded: .succeeded
        case .failed: .failed
        }
    }
}
