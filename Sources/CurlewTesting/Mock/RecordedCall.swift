// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// A request that a ``MockTransport`` received, for stubs and for the checks of a test.
public struct RecordedCall: RecordedMessage {
    /// The request as a transport would send it.
    public let request: HTTPRequest
    /// The first bytes of the body, at most 1 MiB.
    public let body: Data
    /// The number of bytes of the complete body.
    public let bodyLength: Int64
    /// The values of the path parameters of the matching stub. Empty for a stub of an endpoint or route type, and in
    /// the calls that `requests` returns.
    public internal(set) var parameters = PathParameters()
    /// The context of the request. It contains the attempt, the hop, the options and the name of the route.
    public let context: ExchangeContext

    init(_ request: HTTPRequest, _ body: RequestBodyReader, _ context: ExchangeContext) {
        self.request = request
        self.body = body.data
        bodyLength = body.count
        self.context = context
    }

    /// The method of the request.
    public var method: HTTPMethod { request.method }

    /// The request target as sent, with the query, such as "/users/1?full=true".
    public var target: String { request.target }

    /// The header fields as a transport would send them.
    public var headers: HTTPHeaders { request.headers }

    /// The name of the endpoint or route that was sent; empty if it has none.
    public var routeName: String { context.routeName }

    /// Returns the endpoint or route that was sent, or nil if it has another type. If the call was made from a route,
    /// the type of the route matches too.
    public func endpoint<Sent>(as type: Sent.Type = Sent.self) -> Sent? {
        context.endpoint as? Sent ?? (context.endpoint as? any RouteWrapper)?.route as? Sent
    }

    /// The name of the type of the endpoint or route that was sent; nil for a call without one.
    var endpointName: String? {
        if let wrapper = context.endpoint as? any RouteWrapper { return wrapper.route.map { "\(type(of: $0))" } }
        return context.endpoint.map { "\(type(of: $0))" }
    }

    /// Decodes ``body`` with the call's codecs, according to its Content-Type. Throws the error that the codec throws.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let mediaType = headers[.contentType].flatMap { MediaType($0) }
        return try context.codecs.decode(type, from: body, mediaType: mediaType)
    }
}

extension RecordedCall {
    /// The method, the URL and the route's name, without secrets.
    public var description: String {
        "\(request)" + (routeName.isEmpty ? "" : " (\(routeName))")
    }
}

/// Reads a request body as a transport does, and keeps its first bytes.
struct RequestBodyReader {
    /// The first bytes of the body, at most `limit`.
    private(set) var data = Data()
    /// The number of bytes of the complete body.
    private(set) var count: Int64 = 0
    private let limit: Int

    /// Reads `body` to its end. Throws the errors that the body throws, and `CancellationError` as soon as the task is
    /// cancelled.
    init(_ body: RequestBody, limit: Int) async throws {
        self.limit = limit
        for try await chunk in try body.chunks() {
            try Task.checkCancellation()
            append(chunk)
        }
    }

    private mutating func append(_ chunk: Data) {
        count += Int64(chunk.count)
        data.append(chunk.prefix(max(0, limit - data.count)))
    }
}
