// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The requests of tus 1.0 with the extensions creation, expiration and termination, which the client sends.
/// `UploadRun` decides which of them is sent when.
///
/// Each function returns the response with its content, and throws for each status that is not a success.
struct UploadRequests: Sendable {
    static let version = "1.0.0"

    let client: APIClient
    let route: any Route

    /// The absolute URL of the request that creates uploads.
    var endpoint: String {
        get throws(NetworkError) {
            var request = Request<Void>(route.method, route.path, query: route.query, name: route.name)
            request.baseURL = route.baseURL
            return try client.request(for: request).urlString
        }
    }

    func discover() async throws(NetworkError) -> Response<Data> {
        try await receive(creator(.options))
    }

    /// Creates the upload. This request has the fields of the caller's request.
    func create(length: Int64, _ metadata: UploadMetadata) async throws(NetworkError) -> Response<Data> {
        var headers = route.headers
        headers["Tus-Resumable"] = Self.version
        headers["Upload-Length"] = "\(length)"
        if let metadata = metadata.field { headers["Upload-Metadata"] = metadata }
        return try await receive(creator(.post, body: Self.content(.bytes(Data())), headers: headers))
    }

    func locate(_ url: String) async throws(NetworkError) -> Response<Data> {
        try await receive(request(.head, url))
    }

    func append(_ chunk: RequestBody, at offset: Int64, to url: String) async throws(NetworkError) -> Response<Data> {
        let headers: HTTPHeaders = [
            .contentType: "application/offset+octet-stream", "Upload-Offset": "\(offset)",
        ]
        return try await receive(request(.patch, url, headers, body: Self.content(chunk)), isTransfer: true)
    }

    func remove(_ url: String) async throws(NetworkError) {
        _ = try await receive(request(.delete, url))
    }

    /// Sends the source as the content of the caller's request itself.
    func plain(
        _ source: Upload.Source, _ metadata: UploadMetadata, _ meter: BodyMeter
    ) async throws(NetworkError) -> Response<Data> {
        let type = metadata.mediaType.flatMap { MediaType($0) } ?? .octetStream
        let content: RequestContent =
            switch source.kind {
            case .file(let path): .file(path, type: type)
            case .data(let data): .data(data, type: type)
            case .refused(let problem): throw problem
            }
        let counted = content.changingBody { meter.counting($0, at: 0, length: $0.lengthToSend) }
        return try await receive(creator(route.method, body: counted, headers: route.headers), isTransfer: true)
    }

    /// The field of the content type is that of the request.
    private static func content(_ body: RequestBody) -> RequestContent {
        RequestContent(.octetStream, contentType: "") { _ in body }
    }

    /// Returns a request to the resource that creates uploads.
    private func creator(
        _ method: HTTPMethod, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders()
    ) -> Request<HTTPResponse> {
        var request = Request<HTTPResponse>(
            method, route.path, query: route.query, body: body, headers: headers, name: route.name)
        request.options = route.options
        request.baseURL = route.baseURL
        return request
    }

    /// Returns a request to an upload, whose URL the server has chosen.
    private func request(
        _ method: HTTPMethod, _ url: String, _ fields: HTTPHeaders = HTTPHeaders(), body: RequestContent = .none
    ) -> Request<HTTPResponse> {
        var headers = fields
        headers["Tus-Resumable"] = Self.version
        var request = Request<HTTPResponse>(method, url: url, body: body, headers: headers, name: route.name)
        request.options = route.options
        request.options.note(
            serverChoiceFrom: (route.baseURL ?? client.baseURL)?.origin,
            fields: headers.map(\.name) + [.contentType])
        return request
    }

    private func receive(
        _ request: Request<HTTPResponse>, isTransfer: Bool = false
    ) async throws(NetworkError) -> Response<Data> {
        let changes = APIClient.CallChanges { options in
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

struct TusFeatures: Hashable, Sendable {
    var maximumSize: Int64?

    /// Reads the response to OPTIONS; nil if it does not offer tus 1.0.
    init?(_ headers: HTTPHeaders) {
        let versions = [headers["Tus-Version"], headers["Tus-Resumable"]].flatMap { value in
            (value ?? "").parts(",", maximum: 100).map { $0.trimmed() }
        }
        guard versions.contains(where: { $0 == UploadRequests.version }) else { return nil }
        maximumSize = TusState.integer(headers["Tus-Max-Size"])
    }
}

/// The state of the upload in a response. An invalid value counts as missing.
struct TusState: Hashable, Sendable {
    var offset: Int64?
    var length: Int64?
    var expires: Date?

    init(_ headers: HTTPHeaders, at now: Date) {
        offset = Self.integer(headers["Upload-Offset"])
        length = Self.integer(headers["Upload-Length"])
        expires = headers["Upload-Expires"].flatMap { HTTPDate($0, now: now)?.date }
    }

    /// Returns a non-negative integer of at most 15 digits, without parameters.
    static func integer(_ value: String?) -> Int64? {
        guard let text = value?.upTo(";").trimmed(), text.utf8.count <= 15 else { return nil }
        return ASCII.decimal(text)
    }
}

/// The properties of the source that the server receives.
struct UploadMetadata: Codable, Hashable, Sendable {
    var fileName: String?
    var mediaType: String?
    var others: [String: String]

    init(_ options: Upload.Options, path: String?) throws(NetworkError) {
        let name = options.fileName ?? path.flatMap { $0.parts("/").last.map(String.init) }
        fileName = name
        mediaType = name.map { MediaType(fileName: $0).description }
        others = options.metadata
        for key in others.keys where !Self.isValid(key) {
            throw NetworkError(
                .invalidRequest, detail: "The name \"\(key.printable)\" of upload metadata is invalid.",
                hint: "Use ASCII without spaces and commas, at least one character.")
        }
    }

    /// The value of `Upload-Metadata`: names with values in Base64. `filename` and `filetype` are what most servers
    /// expect. Nil without metadata.
    var field: String? {
        var pairs: [(String, String)] = []
        if let fileName, others["filename"] == nil { pairs.append(("filename", fileName)) }
        if let mediaType, others["filetype"] == nil { pairs.append(("filetype", mediaType)) }
        pairs += others.ordered { $0.key < $1.key }.map { ($0.key, $0.value) }
        guard !pairs.isEmpty else { return nil }
        return pairs.map { name, value in
            value.isEmpty ? name : name + " " + Data(value.utf8).base64EncodedString()
        }.joined(separator: ",")
    }

    private static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }
    }
}
