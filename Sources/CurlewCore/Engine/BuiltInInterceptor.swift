// SPDX-License-Identifier: MIT

import CurlewHTTP

/// An interceptor that Curlew provides. Factories such as `.retry()`, `.caching()` and `.bearer { token }` return it.
///
/// A pipeline inserts the interceptor at its own placement, so `Pipeline.standard.replacing(.retry(.attempts(5)))`
/// replaces the retry interceptor. Each factory documents the rules of its interceptor. Copies share the interceptor's
/// state.
public struct BuiltInInterceptor: Interceptor {
    /// The interceptor itself. A pipeline stores it in place of this value, so that calls do not pay for the wrapper.
    let base: any Interceptor

    /// Creates the value that a factory returns for `base`, an interceptor of this package.
    package init(_ base: any Interceptor) {
        self.base = base
    }

    /// Creates an interceptor from a closure. `name` is its name in the description of a pipeline.
    package init(
        _ name: String, _ traits: InterceptorTraits,
        _ intercept: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse
    ) {
        base = ClosureInterceptor(description: name, traits: traits, closure: intercept)
    }

    /// The description of the interceptor.
    public var traits: InterceptorTraits { base.traits }

    /// Processes the request and returns the response.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }
}

private struct ClosureInterceptor: Interceptor, CustomStringConvertible {
    let description: String
    let traits: InterceptorTraits
    let closure: @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await closure(request, next)
    }
}

extension BuiltInInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Retry`, as the description of a pipeline shows it. Contains no secrets.
    public var description: String { base.label }
}
