// SPDX-License-Identifier: MIT

#if OpenAPIRuntime
public import Curlew
import CurlewHTTPTypes
public import HTTPTypes
public import OpenAPIRuntime

/// A transport of swift-openapi-runtime over a client: generated clients get its redirects, retries, credentials,
/// limits, cache and recordings.
///
///     let api = Client(serverURL: try Servers.Server1.url(), transport: APIClientTransport(client))
///
/// - The name of a call in logs, metrics and errors is the identifier of its operation.
/// - If the server's URL has the origin of the client's base URL, requests get the client's fields and credentials. A
///   server's URL without a host, such as `/v1`, is one of the client's base URL.
/// - A request body of at most 1 MiB that can be read again is sent from memory. Any other is streamed: the next chunk is
///   requested when the transport has room for it. A body that can be read only once is sent at most once, so such a
///   request is not retried.
/// - A response body is streamed: the client receives only while the body is read. `Limits.responseBody` and the total
///   timeout of the client include it.
/// - Errors are `NetworkError`, which the generated client wraps in its `ClientError.underlyingError`. A cancelled call
///   throws `CancellationError`.
public struct APIClientTransport: ClientTransport {
    private let client: APIClient

    /// Creates a transport whose requests `client` sends.
    public init(_ client: APIClient) {
        self.client = client
    }

    /// Sends a request, and returns its response whatever the status. The body is nil where HTTP defines none: for HEAD,
    /// and for 204, 205 and 304.
    public func send(
        _ request: HTTPTypes.HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
        do {
            let message = try Curlew.HTTPRequest(
                HTTPMethod(rawValue: request.method.rawValue), url: try url(of: request.path, from: baseURL),
                headers: HTTPHeaders(request.headerFields), body: try await Self.requestBody(body))
            let call = Request<Curlew.HTTPResponse>(message, name: operationID).options { $0.streaming = true }
            let response = try await client.send(call)
            return (try HTTPTypes.HTTPResponse(response), Self.responseBody(response, to: request))
        } catch {
            throw Self.mapped(error)
        }
    }

    /// Returns the URL of a request: the path, which includes the query, appended to the URL of the server.
    private func url(of path: String?, from server: URL) throws(NetworkError) -> String {
        var base = server.absoluteString
        if server.host == nil {
            guard let origin = client.baseURL?.origin else {
                throw NetworkError(
                    .configuration, detail: "The URL of the server has no host, and the client has no base URL.",
                    hint: "Create the client with APIClient(baseURL: …).")
            }
            base = "\(origin)\(base.utf8.first == UInt8(ascii: "/") ? "" : "/")\(base)"
        }
        let path = path ?? ""
        if base.utf8.last == UInt8(ascii: "/"), path.utf8.first == UInt8(ascii: "/") { base.removeLast() }
        return base + path
    }

    private static let buffered: Int64 = 1 << 20

    private static func requestBody(_ body: HTTPBody?) async throws -> RequestBody {
        guard let body else { return .empty }
        var length: Int64?
        if case .known(let count) = body.length { length = Int64(count) }
        let isRepeatable = body.iterationBehavior == .multiple
        if isRepeatable, let length, length <= buffered {
            return .bytes(try await Data(collecting: body, upTo: Int(buffered)))
        }
        return .stream(length: length, replay: isRepeatable ? .always : .never) {
            RequestBody.Chunks(body.map { Data($0) })
        }
    }

    private static func responseBody(
        _ response: Curlew.HTTPResponse, to request: HTTPTypes.HTTPRequest
    ) -> HTTPBody? {
        if request.method == .head || [204, 205, 304].contains(response.status.code) { return nil }
        let length: HTTPBody.Length = response.body.declaredLength.map { .known($0) } ?? .unknown
        return HTTPBody(ByteChunks(base: response.body), length: length, iterationBehavior: .single)
    }

    fileprivate static func mapped(_ error: any Error) -> any Error {
        let error = NetworkError(error)
        return error.isCancelled ? CancellationError() : error
    }
}

/// The chunks of a response body as the runtime reads them. Each one is requested when the previous one has been taken.
private struct ByteChunks: AsyncSequence, Sendable {
    let base: ResponseBody

    struct Iterator: AsyncIteratorProtocol {
        var base: ResponseBody.Iterator

        mutating func next() async throws -> ArraySlice<UInt8>? {
            do {
                return try await base.next().map { ArraySlice($0) }
            } catch {
                throw APIClientTransport.mapped(error)
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }
}
#endif
