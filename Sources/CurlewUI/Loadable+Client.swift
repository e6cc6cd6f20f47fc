// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Loadable {
    /// What `endpoint` gives: `Loadable(GetUser(id: 1), from: client)`.
    ///
    /// The freshness of the value is what the client's cache says of it. A refresh asks the server whether what the cache has is
    /// still good.
    public convenience init<E: Endpoint>(_ endpoint: E, from client: APIClient) where E.Response == Value {
        self.init(source: { _ in
            let response = try await client.response(for: endpoint)
            return (response.value, Freshness(response))
        })
    }

    /// What `request` gives: `Loadable(.user(id: 1), from: client)`. Otherwise as for an endpoint.
    public convenience init(_ request: Request<Value>, from client: APIClient) {
        self.init(source: { _ in
            let response = try await client.response(for: request)
            return (response.value, Freshness(response))
        })
    }
}

extension Freshness {
    /// What a response says of itself.
    init<Value>(_ response: Response<Value>, now: Date = Date()) {
        switch response.served {
        case .cache(let age, _): self.init(date: now.addingTimeInterval(-(age / .seconds(1))))
        case .stale: self.init(date: HTTPDate(response.headers[.date] ?? "")?.date ?? now, isStale: true)
        default: self.init(date: now)
        }
    }
}
