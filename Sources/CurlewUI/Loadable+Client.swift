// SPDX-License-Identifier: MIT

import CurlewCaching
public import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// Creates a loadable that sends `endpoint`: `Loadable(GetUser(id: 1), from: client)`.
    ///
    /// The freshness of the value is the one that the client's cache reports. A refresh validates a cached response
    /// with the server.
    public convenience init<E: Endpoint>(_ endpoint: E, from client: APIClient) where E.Response == Value {
        self.init(source: { _ in
            let response = try await client.response(for: endpoint)
            return (response.value, Freshness(response))
        })
    }

    /// Creates a loadable that sends `request`: `Loadable(.user(id: 1), from: client)`. Otherwise it behaves like the
    /// one for an endpoint.
    public convenience init(_ request: Request<Value>, from client: APIClient) {
        self.init(source: { _ in
            let response = try await client.response(for: request)
            return (response.value, Freshness(response))
        })
    }
}

extension Freshness {
    /// The freshness that a response reports.
    init<Value>(_ response: Response<Value>, now: Date = Date()) {
        switch response.served {
        case .cache(let age, _): self.init(date: now.addingTimeInterval(-(age / .seconds(1))))
        case .stale: self.init(date: HTTPDate(response.headers[.date] ?? "")?.date ?? now, isStale: true)
        default: self.init(date: now)
        }
    }
}
