// SPDX-License-Identifier: MIT

/// An interceptor of Curlew, as the factories return it: `.retry()`, `.caching()`, `.bearer { token }`.
///
/// A pipeline inserts it at its own placement, so `Pipeline.standard.replacing(.retry(.attempts(5)))` replaces the
/// retry interceptor. Each factory documents the rules of its interceptor. Copies share the interceptor's state.
public struct BuiltInInterceptor: ValidatingInterceptor, ScopedInterceptor, PreparingInterceptor {
    /// The interceptor that a pipeline runs in place of this value, so that calls do not pay for the wrapper.
    package let base: any Interceptor

    /// Wraps an interceptor of this package for its factory.
    package init(_ base: any Interceptor) {
        self.base = base
    }

    /// The placement of the interceptor.
    public var placement: Placement { base.placement }

    package var scope: InterceptorScope { base.declaredScope }

    /// Whether a preview runs the interceptor.
    public var runsInPreview: Bool { base.runsInPreview }

    /// Runs the interceptor.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }

    /// The principal whose credential the interceptor would attach.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        base.principal(of: request, in: context)
    }

    /// Loads what the interceptor needs to return its principal, if anything.
    public func prepare(in context: ExchangeContext) async {
        await (base as? any PreparingInterceptor)?.prepare(in: context)
    }

    /// Declares what the interceptor declares.
    public func declare(in setup: inout Pipeline.Environment) {
        (base as? any ValidatingInterceptor)?.declare(in: &setup)
    }

    /// The configuration error of the interceptor.
    public func problem(in setup: Pipeline.Environment) -> String? {
        (base as? any ValidatingInterceptor)?.problem(in: setup)
    }

    /// The warning of the interceptor.
    public func warning(in setup: Pipeline.Environment) -> String? {
        (base as? any ValidatingInterceptor)?.warning(in: setup)
    }
}

extension BuiltInInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Retry`, as in the description of a pipeline. Contains no secrets.
    public var description: String { base.label }
}

extension Interceptor {
    /// The interceptor itself, without the type that its factory returns.
    var unwrapped: any Interceptor { (self as? BuiltInInterceptor)?.base ?? self }
}
