// SPDX-License-Identifier: MIT

import CurlewHTTP

extension ExchangeContext {
    /// What all calls of a client have in common.
    final class Client: Sendable {
        let origin: Origin?
        let bounds: CallBounds
        let time: any TimeSource
        let homeFields: Set<HTTPField.Name>
        let fields: FieldRules
        let secrets: DeclaredSecrets

        init(
            origin: Origin?, bounds: CallBounds, time: any TimeSource, homeFields: Set<HTTPField.Name> = [],
            fields: FieldRules, secrets: DeclaredSecrets? = nil
        ) {
            self.origin = origin
            self.bounds = bounds
            self.time = time
            self.homeFields = homeFields
            self.fields = fields
            self.secrets = secrets ?? DeclaredSecrets(fields)
        }
    }

    /// What stays the same from the first to the last hop of a call.
    final class Call: Sendable {
        let id: UInt64
        let routeName: String
        let options: RequestOptions
        /// The call's laid over the client's.
        let bounds: CallBounds
        let events: CallEvents?
        let start: MonotonicInstant
        let endpoint: (any Sendable)?
        let codecs: Codecs
        let authentication: AuthenticationChoice
        let client: Client

        init(
            id: UInt64, routeName: String, options: RequestOptions, events: EventQueue?,
            endpoint: (any Sendable)?, codecs: Codecs, client: Client
        ) {
            self.id = id
            self.routeName = routeName
            self.options = options
            bounds = client.bounds.overridden(by: options.bounds)
            self.events = events.map { CallEvents($0) }
            start = client.time.now
            self.endpoint = endpoint
            self.codecs = codecs
            authentication = options.authentication ?? .optional
            self.client = client
        }

        /// The same, begun now.
        func again() -> Call {
            Call(
                id: ExchangeID.next(), routeName: routeName, options: options, events: events?.queue,
                endpoint: endpoint, codecs: codecs, client: client)
        }
    }
}
