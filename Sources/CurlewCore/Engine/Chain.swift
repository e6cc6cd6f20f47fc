// SPDX-License-Identifier: MIT

/// The interceptors of a pipeline over their transport: what all exchanges of a client have in common.
final class Chain: Sendable {
    let interceptors: [any Interceptor]
    let transport: any Transport
    /// Tells chains apart: equal numbers mean the same interceptors over the same transport.
    let number: UInt64
    /// Those that have to load something before they can say whose answer a request gets, with their places.
    let preparing: [(place: Int, interceptor: any PreparingInterceptor)]

    init(_ interceptors: [any Interceptor], _ transport: any Transport, number: UInt64 = ChainNumber.next()) {
        self.interceptors = interceptors
        self.transport = transport
        self.number = number
        preparing = interceptors.enumerated().compactMap { place, interceptor in
            let plain = (interceptor as? PlacedInterceptor)?.base ?? interceptor
            return (plain as? any PreparingInterceptor).map { (place, $0) }
        }
    }
}

/// Numbers for chains, never used twice.
enum ChainNumber {
    private static let last = Locked<UInt64>(0)

    static func next() -> UInt64 {
        last.withLock { last in
            last &+= 1
            return last
        }
    }
}
