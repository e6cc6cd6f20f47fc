// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension ExchangeContext {
    final class Client: Sendable {
        let origin: Origin?
        let bounds: CallBounds
        let time: any TimeSource
        let homeFields: Set<HTTPField.Name>
        let fields: Redaction.Rules
        let secrets: DeclaredSecrets
        let cause: UInt64?
        /// `APIClient.Core.Settings`, for clients on behalf of a call; nil in the context of a test.
        let settings: (any Sendable)?

        init(
            origin: Origin?, bounds: CallBounds, time: any TimeSource, homeFields: Set<HTTPField.Name> = [],
            fields: Redaction.Rules, secrets: DeclaredSecrets? = nil, cause: UInt64? = nil,
            settings: (any Sendable)? = nil
        ) {
            self.origin = origin
            self.bounds = bounds
            self.time = time
            self.homeFields = homeFields
            self.fields = fields
            self.secrets = secrets ?? DeclaredSecrets(fields)
            self.cause = cause
            self.settings = settings
        }
    }

    /// The properties of a call that are the same for all of its hops.
    final class Call: Sendable {
        let id: UInt64
        let routeName: String
        let options: RequestOptions
        /// The timeouts and limits of the client, overridden by those of the call.
        let bounds: CallBounds
        let events: CallEvents?
        let start: SystemTime.Instant
        let endpoint: (any Sendable)?
        let codecs: Codecs
        let authentication: RequestOptions.Authentication
        let client: Client

        init(
            id: UInt64, routeName: String, options: RequestOptions, events: EventSinks?,
            endpoint: (any Sendable)?, codecs: Codecs, client: Client
        ) {
            self.id = id
            self.routeName = routeName
            bounds = client.bounds.overridden(by: options.bounds)
            self.events = events.map { CallEvents($0) }
            start = client.time.now
            self.endpoint = endpoint
            self.codecs = codecs
            authentication = options.authentication ?? .optional
            self.client = client
            // Last, so that the options are not copied.
            self.options = options
        }

        /// Returns a call with the same properties, a new number and the current time as its start.
        func again() -> Call {
            Call(
                id: Numbers.calls.next(), routeName: routeName, options: options, events: events?.sinks,
                endpoint: endpoint, codecs: codecs, client: client)
        }
    }
}

extension ExchangeContext: MirroredByDescription {
    /// The number and name of the call, the attempt and the hop, on one line: `call 7 (GetUser), attempt 1, hop 0`.
    public var description: String {
        "call \(id)\(routeName.isEmpty ? "" : " (\(routeName))"), attempt \(attempt), hop \(hop)".printable
    }
}
