// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

/// The description of a background transfer. It identifies the transfer across launches of the app.
///
/// The system keeps a background task and its request while the app is away, but not the app's own data about them.
/// This description is attached to the task as text, so that the task can be identified after a relaunch. The ledger
/// stores it too.
///
/// The description omits the fields of the request, and secret values in the URL are redacted as in logs. `tags` are
/// written to disk unchanged: do not put secrets into them.
public struct BackgroundTransfer: Codable, Hashable, Sendable, Identifiable {
    /// The direction of a transfer, with the path of its file.
    public enum Kind: Codable, Hashable, Sendable {
        /// Writes the response body to the file at this path. An existing file is replaced only if the status is a
        /// success.
        case download(to: String)
        /// Sends the file at this path as the request body. The file must exist until the transfer has ended.
        case upload(from: String)
    }

    /// The unique identifier of the transfer.
    public let id: UUID
    /// The direction of the transfer, with the path of its file.
    public let kind: Kind
    /// The method and the URL, without secrets. For display and search; the request cannot be sent again from it.
    public let line: String
    /// Data of the app, such as the name of the endpoint that decodes the response, or the record to which the response
    /// belongs.
    public var tags: [String: String]
    /// The date when the transfer was created.
    public let created: Date
    /// The names of fields that were declared secret, or nil if there are none. The outcome omits these fields. They
    /// are stored because later launches do not know the declarations.
    let withheld: [String]?

    /// Creates the description of a transfer of `request`.
    public init(
        _ request: HTTPRequest, kind: Kind, tags: [String: String] = [:], id: UUID = UUID(), created: Date = Date()
    ) {
        self.id = id
        self.kind = kind
        self.tags = tags
        self.created = created
        line = NetworkError.RequestLine(request).description
        let names = request.secrets.secretFields.map(\.text)
        withheld = names.isEmpty ? nil : names.sorted()
    }
}

extension BackgroundTransfer {
    /// The maximum size in bytes of the text of a task.
    static let maximumText = 16 << 10
    /// The prefix of the text of each task of this package. The number is the version of the format.
    private static let mark = "curlew-1:"

    /// Returns the description as text for `URLSessionTask.taskDescription`. Throws `.invalidRequest` if the text
    /// exceeds 16 KiB, which happens if the tags are too long.
    public func text() throws(NetworkError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = Self.mark + String(decoding: try encoder.encode(self), as: UTF8.self)
            guard text.utf8.count <= Self.maximumText else {
                throw NetworkError(
                    .invalidRequest, detail: "The description of a background transfer has \(text.utf8.count) bytes.",
                    hint: "Keep the tags short: use identifiers instead of values.")
            }
            return text
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.encoding, detail: "The description cannot be encoded: \(error)", underlying: error)
        }
    }

    /// Creates a description from the text of a task. Returns nil for a task that this package did not create, and for
    /// text that cannot be parsed.
    public init?(text: String?) {
        guard let text, text.begins(with: Self.mark), text.utf8.count <= Self.maximumText,
            let transfer = try? JSONDecoder().decode(Self.self, from: Data(text.utf8.dropFirst(Self.mark.utf8.count)))
        else { return nil }
        self = transfer
    }
}

/// The outcome of a background transfer, kept until the app acknowledges it.
public struct BackgroundOutcome: Codable, Hashable, Sendable {
    /// The status code of the response; nil if there was no response.
    public let status: Int?
    /// The fields of the response, without those that are secret by name or declaration. Repeated fields are joined
    /// with commas.
    public let headers: [String: String]
    /// The path of the file with the response body; nil if there is none. For a successful download, this is the path
    /// that the app chose. Otherwise the file is kept until the app acknowledges the transfer.
    public let file: String?
    /// The reason why there is no response, in one sentence; nil if there is a response.
    public let failure: String?

    /// Creates the outcome of a transfer that received a response, with the path of its body.
    public init(_ response: HTTPResponse, file: String?) {
        status = response.status.code
        var kept: [String: String] = [:]
        for field in response.headers where !response.headers.isSecret(field.name) {
            kept[field.name.text] = kept[field.name.text].map { "\($0), \(field.value)" } ?? field.value
        }
        headers = kept
        self.file = file
        failure = nil
    }

    /// Creates the outcome of a transfer that failed without a response.
    public init(_ error: NetworkError) {
        (status, headers, file) = (nil, [:], nil)
        failure = "\(error.label): \(error.detail)".clipped(to: 500)
    }

    /// Returns the response, for example to decode it:
    ///
    ///     try await endpoint.decode(outcome.response(), using: .json)
    ///
    /// Reads a body of at most `limit` bytes from the file. Throws `NetworkError`: `.connectionLost` if there was no
    /// response, `.storage` if the file cannot be read, and `.limitExceeded(.responseBody)` if the file is longer than
    /// `limit`.
    public func response(limit: Int64 = Limits.standard.responseBody) throws(NetworkError) -> HTTPResponse {
        guard let status else {
            throw NetworkError(
                .connectionLost(.requestMayHaveArrived),
                detail: failure ?? "The background transfer received no response.")
        }
        let body = try file.map { path throws(NetworkError) in try Self.content(of: path, limit) } ?? Data()
        return HTTPResponse(status: HTTPStatus(status), headers: fields, body: ResponseBody(body, limit: limit))
    }

    /// The fields of the response, sorted by name.
    var fields: HTTPHeaders {
        var fields = HTTPHeaders()
        for field in headers.sorted(by: { $0.key < $1.key }) { fields.append(HTTPField.Name(field.key), field.value) }
        return fields
    }

    private static func content(of path: String, _ limit: Int64) throws(NetworkError) -> Data {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let size = Int64(clamping: try handle.seekToEnd())
            guard size <= limit else {
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "The file \(path) has \(size) bytes.",
                    hint: "Raise the limit, or read the file in pieces.")
            }
            try handle.seek(toOffset: 0)
            return try handle.readToEnd() ?? Data()
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.storage, detail: "The file \(path) cannot be read: \(error)", underlying: error)
        }
    }
}
