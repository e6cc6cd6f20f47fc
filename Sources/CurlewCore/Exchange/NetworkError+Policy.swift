// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// The policy that refused to send a request. Capabilities define their policies, and an app can define its own.
    public struct Policy: Sendable, CustomStringConvertible {
        /// The name of the policy, for metrics and comparisons, such as `circuitBreaker`.
        public let name: String
        /// One sentence for the user.
        let message: String
        /// Whether the same call may succeed later.
        let mayPass: Bool
        /// Whether caches treat a refusal by this policy like a failure of the server.
        package let isOfServer: Bool

        /// Creates a policy. Policies with the same name are equal.
        ///
        /// - `message`: one sentence for the user.
        /// - `mayPass`: whether the same call may succeed later. `NetworkError.isRetryable` returns it.
        public init(_ name: String, message: String = "The request was not sent.", mayPass: Bool = false) {
            self.init(name, message: message, mayPass: mayPass, isOfServer: false)
        }

        package init(_ name: String, message: String, mayPass: Bool, isOfServer: Bool) {
            self.name = name
            self.message = message
            self.mayPass = mayPass
            self.isOfServer = isOfServer
        }

        /// The name of the policy.
        public var description: String { name }
    }
}

extension NetworkError.Policy: ComparedByKey {
    /// The name: the names of the built-in policies are reserved for them.
    package var comparisonKey: String { name }
}

extension NetworkError.Policy {
    /// Too many exchanges already wait for the same host.
    public static let overload = NetworkError.Policy(
        "overload", message: "There were too many requests.", mayPass: true, isOfServer: true)
    /// The client is draining, or the transport has been shut down.
    public static let shutdown = NetworkError.Policy("shutdown")
    /// The host has no address to which `TransportConfiguration.addressPolicy` allows a connection.
    public static let addressPolicy = NetworkError.Policy("addressPolicy")
    /// The request reached the end of an `APIClient.preview`, which sends nothing.
    public static let preview = NetworkError.Policy("preview")
    /// A mock has no response for the request.
    public static let mock = NetworkError.Policy("mock")
}
