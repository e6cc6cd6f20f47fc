// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request that reached a mock, for stubs and for the checks of a test.
public struct RecordedCall: Sendable {
    /// The request as it would have been sent on the wire.
    public let request: HTTPRequest
    /// The body, at most its first MiB.
    public let body: Data
    /// The number of bytes of the body.
    public let bodyLength: Int64
    /// The values of the stub's path parameters; empty for typed stubs and in the calls that a mock records.
    public internal(set) var parameters = PathParameters()
    /// The context of the request: attempt, hop, options, the route's name.
    public let context: ExchangeContext

    init(_ request: HTTPRequest, _ body: RequestBodyReader, _ context: ExchangeContext) {
        self.request = request
        self.body = body.data
        bodyLength = body.count
        self.context = context
    }

    /// The method.
    public var method: HTTPMethod { request.method }

    /// The path without the query, percent-encoded as sent.
    public var path: String {
        String(request.target.prefix { $0 != "?" })
    }

    /// The name of the endpoint that was sent.
    public var routeName: String { context.routeName }

    /// Returns the endpoint or route that was sent, if it is of this type. For a call that was created from a route,
    /// also the route.
    public func endpoint<Sent>(as type: Sent.Type = Sent.self) -> Sent? {
        context.endpoint as? Sent ?? (context.endpoint as? any RouteWrapper)?.route as? Sent
    }

    /// Returns the first value of a query item, decoded.
    public func query(_ name: String) -> String? {
        guard let mark = request.target.firstIndex(of: "?") else { return nil }
        for pair in request.target[mark...].dropFirst().split(separator: "&") {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            guard PercentCoding.decodeForm(String(pair[..<equals])) == name else { continue }
            return PercentCoding.decodeForm(String(pair[equals...].dropFirst()))
        }
        return nil
    }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body with the call's codecs.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let mediaType = request.headers[.contentType].flatMap { MediaType($0) }
        return try context.codecs.decode(type, from: body, mediaType: mediaType)
    }
}

extension RecordedCall: CustomStringConvertible, CustomReflectable {
    /// The method, the URL and the route's name, without secrets.
    public var description: String {
        "\(request)" + (routeName.isEmpty ? "" : " (\(routeName))")
    }

    /// Shows only the description, also in debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
