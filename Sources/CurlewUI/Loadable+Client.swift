// SPDX-License-Identifier: MIT

import CurlewCaching
public import CurlewCore
import CurlewFoundation
import CurlewHTTP

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Creates a loadable that sends `endpoint`: `Loadable(GetUser(id: 1), from: client)`.
    ///
    /// The client's cache determines the freshness of the value. A refresh validates a cached response with the server.
    public convenience init<E: Endpoint>(_ endpoint: E, from client: APIClient) where E.Response == Value {
        self.init(source: { _ in
            let response = try await client.response(for: endpoint)
            return (response.value, Freshness(response))
        })
    }

    /// Creates a loadable that sends `request`: `Loadable(.user(id: 1), from: client)`. It behaves like a loadable for
    /// an endpoint.
    public convenience init(_ request: Request<Value>, from client: APIClient) {
        self.init(source: { _ in
            let response = try await client.response(for: request)
            return (response.value, Freshness(response))
        })
    }
}

extension Freshness {
    /// Creates the freshness of a response. The date follows from the age of a cached response, or from the Date field
    /// of a response that is served stale; for any other response it is `now`.
    init<Value>(_ response: Response<Value>, now: Date = Date()) {
        switch response.served {
        case .cache(let age, _): self.init(date: now.addingTimeInterval(-(age / .seconds(1))))
        case .stale: self.init(date: HTTPDate(response.headers[.date] ?? "")?.date ?? now, isStale: true)
        default: self.init(date: now)
        }
    }
}
