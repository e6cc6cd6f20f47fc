// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request that reached a mock: what a stub looks at, and what a test looks at afterwards.
public struct RecordedCall: Sendable {
    /// The message as it would have gone to the wire.
    public let request: HTTPRequest
    /// The bytes of its body, at most the first MiB.
    public let body: Data
    /// How many bytes the body had.
    public let bodyLength: Int64
    /// What the stub's path parameters stand for; empty for typed stubs and in what a mock recorded.
    public internal(set) var parameters = PathParameters()
    /// What travelled beside the request: attempt, hop, options, the route's name.
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

    /// The endpoint or route that was sent, if it is of this type.
    public func endpoint<Sent>(as type: Sent.Type = Sent.self) -> Sent? {
        context.endpoint as? Sent
    }

    /// The first value of a query item, decoded.
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

    /// The body as a value, read by the call's codecs.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let mediaType = request.headers[.contentType].flatMap { MediaType($0) }
        return try context.codecs.decode(type, from: body, mediaType: mediaType)
    }
}

extension RecordedCall: CustomStringConvertible, CustomReflectable {
    /// Method, URL and the route's name, with secrets out.
    public var description: String {
        "\(request)" + (routeName.isEmpty ? "" : " (\(routeName))")
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
