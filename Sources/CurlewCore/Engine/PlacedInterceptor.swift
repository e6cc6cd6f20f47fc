// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor {
    /// Returns this interceptor with another placement, or with a declaration about its effect on responses:
    ///
    ///     let pipeline: Pipeline = [.caching(), Tracing().placed(at: .signing, changesPrincipal: false)]
    ///
    /// - `placement`: the placement for `Pipeline.adding(_:)` and for checks of the order; nil keeps the interceptor's
    ///   own.
    /// - `changesPrincipal`: false if responses do not depend on the interceptor, so that caches and coalescing ignore
    ///   it; true if they may. Nil, the default, leaves the decision to the interceptor, whose default principal is
    ///   `.unknown`.
    public func placed(at placement: Placement? = nil, changesPrincipal: Bool? = nil) -> any Interceptor {
        if placement == nil, changesPrincipal == nil { return self }
        let base = (self as? PlacedInterceptor)?.base ?? unwrapped
        let placed = self as? PlacedInterceptor
        return PlacedInterceptor(
            base: base, placement: placement ?? self.placement,
            changesPrincipal: changesPrincipal ?? placed?.changesPrincipal, home: placed?.home)
    }
}

/// An interceptor with a placement or a declaration that was specified when it was added.
struct PlacedInterceptor: ScopedInterceptor {
    let base: any Interceptor
    let placement: Placement
    let changesPrincipal: Bool?
    /// The only origin that receives the interceptor's additions; nil if the interceptor's own scope applies.
    let home: Origin?

    var scope: InterceptorScope { home.map { .origin($0) } ?? base.declaredScope }

    var runsInPreview: Bool { base.runsInPreview }

    /// Returns `base` with the placement and the declaration of this interceptor.
    func around(_ base: any Interceptor) -> PlacedInterceptor {
        PlacedInterceptor(base: base, placement: placement, changesPrincipal: changesPrincipal, home: home)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        switch changesPrincipal {
        case nil: base.principal(of: request, in: context)
        case true?: .unknown
        case false?: .anonymous
        }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }
}

extension PlacedInterceptor: CustomStringConvertible {
    var description: String { base.label }
}
