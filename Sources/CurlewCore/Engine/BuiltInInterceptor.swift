// SPDX-License-Identifier: MIT

/// An interceptor that Curlew provides. Factories such as `.retry()`, `.caching()` and `.bearer { token }` return it.
///
/// A pipeline inserts the interceptor at its own placement, so `Pipeline.standard.replacing(.retry(.attempts(5)))`
/// replaces the retry interceptor. Each factory documents the rules of its interceptor. Copies share the interceptor's
/// state.
public struct BuiltInInterceptor: ValidatingInterceptor, ScopedInterceptor, PreparingInterceptor {
    /// The wrapped interceptor. A pipeline runs it in place of this value, so that calls do not pay for the wrapper.
    package let base: any Interceptor

    /// Creates the value that a factory returns for `base`, an interceptor of this package.
    package init(_ base: any Interceptor) {
        self.base = base
    }

    /// The placement of the wrapped interceptor.
    public var placement: Placement { base.placement }

    package var scope: InterceptorScope { base.declaredScope }

    /// Whether `APIClient.preview` runs the wrapped interceptor.
    public var runsInPreview: Bool { base.runsInPreview }

    /// Passes the request to the wrapped interceptor and returns its response.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }

    /// Returns the principal whose credential the wrapped interceptor would attach to `request`.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        base.principal(of: request, in: context)
    }

    /// Lets the wrapped interceptor load the data that it needs to return its principal. Does nothing if it needs none.
    public func prepare(in context: ExchangeContext) async {
        await (base as? any PreparingInterceptor)?.prepare(in: context)
    }

    /// Adds the declarations of the wrapped interceptor to `setup`.
    public func declare(in setup: inout Pipeline.Environment) {
        (base as? any ValidatingInterceptor)?.declare(in: &setup)
    }

    /// Returns the configuration error of the wrapped interceptor; nil if there is none.
    public func problem(in setup: Pipeline.Environment) -> String? {
        (base as? any ValidatingInterceptor)?.problem(in: setup)
    }

    /// Returns the warning of the wrapped interceptor; nil if there is none.
    public func warning(in setup: Pipeline.Environment) -> String? {
        (base as? any ValidatingInterceptor)?.warning(in: setup)
    }
}

extension BuiltInInterceptor: CustomStringConvertible {
    /// The name of the wrapped interceptor, such as `Retry`, as the description of a pipeline shows it. Contains no
    /// secrets.
    public var description: String { base.label }
}

extension Interceptor {
    /// The interceptor inside a `BuiltInInterceptor`, otherwise this interceptor.
    var unwrapped: any Interceptor { (self as? BuiltInInterceptor)?.base ?? self }
}
