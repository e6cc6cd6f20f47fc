// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// A request that a ``MockTransport`` or a ``MockServer`` received, for stubs, routes and the checks of a test.
///
///     let request = mock.requests[0]                       // or client.recordedCalls[0], or server.requests[0]
///     request.path == "/films"
///     request.query["page"] == "2"
///     request.headers[.accept] == "application/json"
///     try request.json(NewFilm.self) == film
public struct RecordedRequest: Sendable {
    /// The request as a transport would send it, or as the server received it.
    public let request: HTTPRequest
    /// The content without framing; of a mock transport, its first bytes, at most 1 MiB.
    public let body: Data
    /// The number of bytes of the complete content.
    public let bodyLength: Int64
    /// The parameters of the path of the stub or route that matched, percent-decoded except for a `*` parameter:
    /// `parameters["id"]` for "/users/:id". Empty if none matched, for a stub of an endpoint or route type, and in the
    /// requests that `requests` of a mock transport returns.
    public internal(set) var parameters = PathParameters()
    /// The context of the request, with its attempt, hop and options; for a server, a context without a call.
    public let context: ExchangeContext
    /// The HTTP version of the request; HTTP/1.1 for a mock transport.
    public internal(set) var version = HTTPVersion.http1_1
    /// The trailer fields of chunked content that a server received; empty if there are none.
    public internal(set) var trailers = HTTPHeaders()
    /// The index of the server's connection on which the request arrived. The first connection has the index 0.
    public internal(set) var connectionIndex = 0
    /// The index of the exchange on the server's connection. The first exchange has the index 0.
    public internal(set) var exchangeIndex = 0

    var keepAlive = true

    init(_ request: HTTPRequest, _ body: Data, length: Int64? = nil, in context: ExchangeContext = Self.noCall) {
        self.request = request
        self.body = body
        self.context = context
        bodyLength = length ?? Int64(body.count)
    }

    private static let noCall = ExchangeContext()

    /// The request method.
    public var method: HTTPMethod { request.method }

    /// The request target as sent, with the query, such as "/users/1?full=true".
    public var target: String { request.target }

    /// The path of the target without the query, percent-encoded as sent.
    public var path: String { String(pathAndQuery.upTo("?")) }

    /// The items of the query, in their order and decoded: `query["page"]` is the value of the first one with this
    /// name. "+" is a space, and an item without "=" has an empty value. Text that cannot be decoded is as sent.
    public var query: QueryItems {
        let query = pathAndQuery.dropFirst(path.count + 1)
        return QueryItems(
            query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let decoded = parts.map { PercentCoding.decode($0, plusAsSpace: true) ?? $0 }
                return (decoded[0], decoded.count > 1 ? decoded[1] : "")
            })
    }

    private var pathAndQuery: String {
        // A client that uses a proxy sends the complete URL as the target.
        target.begins(with: "/") ? target : (try? URLParts(target))?.target ?? target
    }

    /// The header fields, as a transport would send them or as the server received them.
    public var headers: HTTPHeaders { request.headers }

    /// The content as text. Bytes that are not valid UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the content with the codecs of the call, by its Content-Type; for a server, always as JSON. Throws the
    /// error of the decoder.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        let mediaType = headers[.contentType].flatMap { MediaType($0) }
        return try context.codecs.decode(type, from: body, mediaType: mediaType)
    }

    /// The name of the endpoint or route that a mock transport received; empty if there is none.
    public var routeName: String { context.routeName }

    /// Returns the endpoint or route that a mock transport received; nil if there is none of this type. If the call was
    /// made from a route, the type of the route matches too.
    public func endpoint<Sent>(as type: Sent.Type = Sent.self) -> Sent? {
        context.endpoint as? Sent ?? (context.endpoint as? any RouteWrapper)?.route as? Sent
    }

    /// The name of the type of the endpoint or route that was sent; nil for a call without one.
    var endpointName: String? {
        if let wrapper = context.endpoint as? any RouteWrapper { return wrapper.route.map { "\(type(of: $0))" } }
        return context.endpoint.map { "\(type(of: $0))" }
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// The method, the URL and the route's name, without secrets.
    public var description: String { "\(request)" + (routeName.isEmpty ? "" : " (\(routeName))") }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
