// SPDX-License-Identifier: MIT

extension NetworkError {
    /// The policy that refused to send. Each capability defines its own, and an app may.
    public struct Policy: Sendable, CustomStringConvertible {
        /// The name, for metrics and comparisons: `circuitBreaker`.
        public let name: String
        /// The sentence for the person at the screen.
        package let message: String
        /// Whether the same call may succeed later.
        package let mayPass: Bool
        /// Whether the policy stands for a failure of the server, as far as caches are concerned.
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

        /// The name.
        public var description: String { name }
    }
}

extension NetworkError.Policy: Hashable {
    /// Returns true if both have the same name. The names of the built-in policies are reserved.
    public static func == (left: NetworkError.Policy, right: NetworkError.Policy) -> Bool {
        left.name == right.name
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

extension NetworkError.Policy {
    /// Too many exchanges already wait for the same host.
    public static let overload = NetworkError.Policy(
        "overload", message: "There were too many requests.", mayPass: true, isOfServer: true)
    /// The client is draining, or the transport has been shut down.
    public static let shutdown = NetworkError.Policy("shutdown")
    /// `TransportConfiguration.addressPolicy`: the host has no address to which the transport may connect.
    public static let addressPolicy = NetworkError.Policy("addressPolicy")
    /// `APIClient.preview`: the preview ends here, in place of the transport.
    public static let preview = NetworkError.Policy("preview")
    /// A mock has no response for the request.
    public static let mock = NetworkError.Policy("mock")
}
