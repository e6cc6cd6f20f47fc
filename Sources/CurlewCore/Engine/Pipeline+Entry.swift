// SPDX-License-Identifier: MIT

extension Pipeline {
    /// An interceptor with its description, as a pipeline stores it.
    struct Entry: Sendable {
        let interceptor: any Interceptor
        /// The traits of the interceptor, as edited by `adding`.
        var traits: InterceptorTraits
        /// Whether the interceptor attaches credentials, judged by its placement, the original or the changed one.
        private(set) var attachesCredentials: Bool

        init(_ interceptor: any Interceptor) {
            self.interceptor = (interceptor as? BuiltInInterceptor)?.base ?? interceptor
            traits = interceptor.traits
            attachesCredentials = traits.placement.isForCredentials
        }

        var placement: Placement { traits.placement }
        var label: String { interceptor.label }

        /// Changes the placement, and the principal as `Pipeline.adding` describes it. Nil changes nothing.
        mutating func change(_ placement: Placement?, changesPrincipal: Bool?) {
            if let placement {
                traits.placement = placement
                attachesCredentials = attachesCredentials || placement.isForCredentials
            }
            if let changesPrincipal {
                traits.principal = { _, _ in changesPrincipal ? .unknown : .anonymous }
                // With a declared effect on responses, it stays in the chain for that.
                if changesPrincipal { traits.onlyObserves = false }
            }
        }
    }
}

extension Placement {
    fileprivate var isForCredentials: Bool { self == .authentication || self == .signing }
}
