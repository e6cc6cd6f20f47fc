// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A typed call written inline: an `Endpoint` made by a function instead of a type.
///
///     extension Request {
///         static func user(id: Int) -> Request<User> { .get("/users/\(id)") }
///         static var users: Request<[User]> { .get("/users", query: ["sort": "name"]) }
///         static func create(_ user: NewUser) -> Request<User> { .post("/users", json: user) }
///         static func remove(id: Int) -> Request<Void> { .delete("/users/\(id)") }
///     }
///     let user = try await client.send(.user(id: 1))
///
/// The factories know how to read the answer from `Value`, by the rules of `Endpoint`. `HTTPRequest` is the message on
/// the wire that a call becomes.
public struct Request<Value: Sendable>: Endpoint {
    /// What the call gives. Written out: an inferred one can pick another default of `decode`.
    public typealias Response = Value

    /// The method.
    public var method: HTTPMethod
    /// The path below the base URL. A problem in it is thrown by `send`.
    public var path: RequestPath
    /// The query, in the order in which it is sent, behind the client's own items.
    public var query: QueryItems
    /// Header fields of this call; they replace the client's of the same names.
    public var headers: HTTPHeaders
    /// The body before encoding.
    public var content: RequestContent
    /// The name in logs, metrics and errors: the function that made the call, unless given.
    public var name: String

    private var rare: Rare?
    private let decoder: @Sendable (HTTPResponse, Codecs) async throws -> Value

    /// What few calls have, out of line so that the rest is small.
    private final class Rare: Sendable {
        let options: RequestOptions
        let baseURL: BaseURL?

        init(options: RequestOptions, baseURL: BaseURL?) {
            self.options = options
            self.baseURL = baseURL
        }
    }

    /// A call whose answer `decode` reads, off the main actor and after the status was checked; errors of any kind
    /// become `NetworkError`.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(),
        headers: HTTPHeaders = HTTPHeaders(), content: RequestContent = .none, name: String = #function,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.content = content
        self.name = name
        decoder = decode
    }

    /// A call to an absolute URL.
    init(
        _ method: HTTPMethod, _ url: AbsoluteURL, headers: HTTPHeaders, content: RequestContent, name: String,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(method, url.path, headers: headers, content: content, name: name, decode: decode)
        baseURL = url.baseURL
    }

    /// What the call asks for beyond the message.
    public var options: RequestOptions {
        get { rare?.options ?? RequestOptions() }
        set { rare = Rare(options: newValue, baseURL: baseURL) }
    }

    /// Nil for the client's.
    public var baseURL: BaseURL? {
        get { rare?.baseURL }
        set { rare = Rare(options: options, baseURL: newValue) }
    }

    /// Reads the answer.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Value {
        try await decoder(response, codecs)
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// Name and method, the names of query items and fields, and the kind of the content:
    /// `search(text:): GET, query q, fields X-Device`. No value and no path, because which of them are secrets is known
    /// only to the client that sends the call: `print(try client.request(for: call))` shows what is none.
    public var description: String {
        var parts = ["\(name): \(method)"]
        if !query.isEmpty { parts.append("query " + query.items.map(\.name).joined(separator: " ")) }
        if !headers.isEmpty { parts.append("fields " + headers.map(\.name.text).joined(separator: " ")) }
        if content.mediaType != nil { parts.append("\(content)") }
        return parts.joined(separator: ", ").printable
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// An absolute URL as the base URL and path of a call; what is wrong with it stays in the path.
struct AbsoluteURL {
    let baseURL: BaseURL?
    let path: RequestPath

    init(refused problem: NetworkError) {
        baseURL = nil
        path = RequestPath(refused: problem)
    }

    init(_ url: String) {
        do {
            let parts = try HTTPRequest.parse(url)
            baseURL = BaseURL(origin: parts.origin)
            path = RequestPath(target: parts.target)
        } catch {
            baseURL = nil
            path = RequestPath(refused: error)
        }
    }
}
