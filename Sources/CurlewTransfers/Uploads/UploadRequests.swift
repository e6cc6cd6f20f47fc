// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Sends the requests of an upload with the client.
struct UploadRequests: Sendable {
    let client: APIClient
    /// The request that creates uploads.
    let route: any Route

    /// The absolute URL of the request that creates uploads.
    var endpoint: String {
        get throws(NetworkError) {
            var request = Request<Void>(route.method, route.path, query: route.query, name: route.name)
            request.baseURL = route.baseURL
            return try client.request(for: request).urlString
        }
    }

    /// Sends a request of an upload. Returns the response with its content; throws for each status that is no success.
    func send(
        _ call: TusRequest, _ body: RequestBody
    ) async throws(NetworkError) -> Response<Data> {
        var headers = call.isCreation ? route.headers : HTTPHeaders()
        for field in call.fields { headers[field.name] = field.value }
        let content: RequestContent = body.isEmpty ? .none : RequestContent(.octetStream, contentType: "") { body }
        let request: Request<HTTPResponse>
        if let url = call.url {
            var other = Request<HTTPResponse>(call.method, url: url, body: content, headers: headers, name: route.name)
            other.options = route.options
            // The server has chosen the URL.
            other.options.serverChoice = ServerChoice(
                from: (route.baseURL ?? client.baseURL)?.origin,
                fields: Set(call.fields.map(\.name)).union([.contentType]))
            request = other
        } else {
            request = self.request(call.method, body: content, headers: headers)
        }
        return try await receive(request, isTransfer: call.sendsChunk)
    }

    /// Sends the source as the content of the request itself.
    func plain(
        _ source: Upload.Source, _ metadata: UploadMetadata, _ meter: BodyMeter
    ) async throws(NetworkError) -> Response<Data> {
        let type = metadata.mediaType.flatMap { MediaType($0) } ?? .octetStream
        let content: RequestContent =
            switch source.kind {
            case .file(let path): .file(path, type: type)
            case .data(let data): .data(data, type: type)
            case .stream(let length, let make): .stream(length: length, type: type, make: make)
            case .refused(let problem): throw problem
            }
        let counted = content.changingBody { meter.counting($0, at: 0, length: $0.lengthToSend) }
        return try await receive(request(route.method, body: counted, headers: route.headers), isTransfer: true)
    }

    private func request(
        _ method: HTTPMethod, body: RequestContent, headers: HTTPHeaders
    ) -> Request<HTTPResponse> {
        var request = Request<HTTPResponse>(
            method, route.path, query: route.query, body: body, headers: headers, name: route.name)
        request.options = route.options
        request.baseURL = route.baseURL
        return request
    }

    private func receive(
        _ request: Request<HTTPResponse>, isTransfer: Bool
    ) async throws(NetworkError) -> Response<Data> {
        var changes = APIClient.CallChanges()
        changes.options = { options in
            // `UploadRun` needs to know every status that is not a success.
            options.acceptedStatuses = []
            // Only stalls end a transfer: how long it takes depends on the source.
            if isTransfer { options.timeouts.total = nil }
        }
        return try await client.call(request, changing: changes) { response, _ in
            Response(try await response.body.collect(), from: response)
        }
    }
}
