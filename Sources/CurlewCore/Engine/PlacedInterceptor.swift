// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor {
    /// This interceptor at another place, or with a word on whose answer it leads to:
    ///
    ///     let pipeline: Pipeline = [.caching(), Tracing().placed(at: .signing, changesWhoseAnswer: false)]
    ///
    /// - `placement`: where `Pipeline.adding(_:)` puts it, and what it counts as; nil leaves it.
    /// - `changesWhoseAnswer`: false if no answer depends on what it does to requests, so that caches and coalescing
    ///   work around it; true if one may. Nil, the default, leaves it to the interceptor, which by default cannot tell.
    public func placed(at placement: Placement? = nil, changesWhoseAnswer: Bool? = nil) -> any Interceptor {
        if placement == nil, changesWhoseAnswer == nil { return self }
        let base = (self as? PlacedInterceptor)?.base ?? self
        let placed = self as? PlacedInterceptor
        return PlacedInterceptor(
            base: base, placement: placement ?? self.placement,
            changesWhoseAnswer: changesWhoseAnswer ?? placed?.changesWhoseAnswer, home: placed?.home)
    }
}

/// An interceptor of which something was said where it was added.
struct PlacedInterceptor: ScopedInterceptor, ValidatingInterceptor {
    let base: any Interceptor
    let placement: Placement
    let changesWhoseAnswer: Bool?
    /// The origin that gets what it attaches; nil for what it says itself.
    let home: Origin?

    var scope: InterceptorScope { home.map { .origin($0) } ?? base.declaredScope }

    var runsInPreview: Bool { base.runsInPreview }

    /// The same place for another interceptor.
    func around(_ base: any Interceptor) -> PlacedInterceptor {
        PlacedInterceptor(base: base, placement: placement, changesWhoseAnswer: changesWhoseAnswer, home: home)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        switch changesWhoseAnswer {
        case nil: base.principal(of: request, in: context)
        case true?: .unknown
        case false?: .anonymous
        }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }

    func declare(in setup: inout PipelineSetup) {
        (base as? any ValidatingInterceptor)?.declare(in: &setup)
    }

    func problem(in setup: PipelineSetup) -> String? {
        (base as? any ValidatingInterceptor)?.problem(in: setup)
    }

    func warning(in setup: PipelineSetup) -> String? {
        (base as? any ValidatingInterceptor)?.warning(in: setup)
    }
}

extension PlacedInterceptor: CustomStringConvertible {
    var description: String { base.label }
}
