// SPDX-License-Identifier: MIT

import CurlewAuthentication
public import CurlewCore
import CurlewHTTP

/// The same interceptor in a module where async functions run on their caller's executor.
public struct ApproachableInterceptor: Interceptor {
    /// An interceptor without state.
    public init() {}

    /// Awaits code of its own before and after the rest of the chain.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers.append("Passed", await name())
        var response = try await next(request)
        response.headers.append("Returned", await name())
        return response
    }

    private func name() async -> String { "approachable" }
}

/// A transport of this module, which answers with what it was sent.
public struct ApproachableTransport: Transport {
    /// A transport without state.
    public init() {}

    /// Echoes the header fields.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        HTTPResponse(headers: request.headers)
    }
}

/// The hooks and closures of the library, given closures of this module that await functions of this module.
public enum ApproachableClosures {
    /// A hook of each kind, and a token.
    public static let interceptors: [any Interceptor] = [
        .onRequest { request, _ in request.headers.append("Passed", await label()) },
        .onResponse { response, _ in try await check(response) },
        .onError { error, _ in await note(error) },
        .bearer(for: "https://mock.test") { await label() },
    ]

    private static func label() async -> String { "approachable closure" }
    private static func check(_ response: HTTPResponse) async throws {}
    private static func note(_ error: NetworkError) async {}
}
