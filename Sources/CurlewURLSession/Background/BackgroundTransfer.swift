// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

/// What a transfer that outlives the process needs to be recognised later: by the system's task, and on disk.
///
/// The system keeps a background task, and its request, while the app is away. What it does not keep is what the app
/// meant by it. This description travels with the task as text, so that the task is known again after a relaunch.
///
/// It holds no secret: fields of the request are not in it, and its URL is the one that logs show, with secret values
/// replaced. Put nothing secret into `tags` either: they are written to disk as they are.
public struct BackgroundTransfer: Codable, Hashable, Sendable, Identifiable {
    /// What is transferred.
    public enum Kind: Codable, Hashable, Sendable {
        /// The answer's body goes into this file, which is replaced if the status is one of success.
        case download(to: String)
        /// The request's body is this file, which has to stay until the transfer is over.
        case upload(from: String)
    }

    /// Tells it from all others.
    public let id: UUID
    /// What is transferred, and the file.
    public let kind: Kind
    /// The method and the URL, secrets out. To show and to search, not to send again.
    public let line: String
    /// What the app wants to know later: which endpoint reads the answer, which record it belongs to.
    public var tags: [String: String]
    /// When it was made.
    public let created: Date
    /// Fields that were declared as secret, which no outcome keeps: in a later launch nobody else knows. Nil for none.
    let withheld: [String]?

    /// A description of `request`.
    public init(
        _ request: HTTPRequest, kind: Kind, tags: [String: String] = [:], id: UUID = UUID(), created: Date = Date()
    ) {
        self.id = id
        self.kind = kind
        self.tags = tags
        self.created = created
        line = RequestLine(request).description
        let names = request.secrets.secretFields.map(\.text)
        withheld = names.isEmpty ? nil : names.sorted()
    }
}

extension BackgroundTransfer {
    /// The most bytes of the text that travels with a task.
    static let maximumText = 16 << 10
    /// Tasks of ours begin with it; a later form gets another number.
    private static let mark = "curlew-1:"

    /// The text that travels with the task. Throws `.invalidRequest` when the tags are too long for it (16 KiB).
    public func text() throws(NetworkError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = Self.mark + String(decoding: try encoder.encode(self), as: UTF8.self)
            guard text.utf8.count <= Self.maximumText else {
                throw NetworkError(
                    .invalidRequest, detail: "The description of a background transfer has \(text.utf8.count) bytes.",
                    hint: "Keep the tags short: identifiers instead of what they stand for.")
            }
            return text
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.encoding, detail: "The description cannot be encoded: \(error)", underlying: error)
        }
    }

    /// The description in a task's text; nil for tasks of others, and for what cannot be read.
    public init?(text: String?) {
        guard let text, text.begins(with: Self.mark), text.utf8.count <= Self.maximumText,
            let transfer = try? JSONDecoder().decode(Self.self, from: Data(text.utf8.dropFirst(Self.mark.utf8.count)))
        else { return nil }
        self = transfer
    }
}

/// What came of a background transfer, kept until the app has looked at it.
public struct BackgroundOutcome: Codable, Hashable, Sendable {
    /// The status of the answer; nil if none came.
    public let status: Int?
    /// The fields of the answer, without those that are secret by their names or were declared so.
    public let headers: [String: String]
    /// The body's file. Of a download with a status of success, where it was to go; otherwise where the answer is kept
    /// until the transfer is acknowledged. Nil without one.
    public let file: String?
    /// Why there is no answer, in one sentence.
    public let failure: String?

    /// An outcome of a transfer that was answered.
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

    /// An outcome of a transfer that was not.
    public init(_ error: NetworkError) {
        (status, headers, file) = (nil, [:], nil)
        failure = "\(error.label): \(error.detail)".clipped(to: 500)
    }

    /// The answer, for an endpoint to decode: `try await endpoint.decode(outcome.response(), using: .json)`.
    ///
    /// Reads at most `limit` bytes of the body's file. Throws `NetworkError`: `.connectionLost` where no answer came,
    /// `.storage` where the file cannot be read, `.limitExceeded(.responseBody)` where it is longer.
    public func response(limit: Int64 = Limits.standard.responseBody) throws(NetworkError) -> HTTPResponse {
        guard let status else {
            throw NetworkError(
                .connectionLost(.requestMayHaveArrived), detail: failure ?? "The background transfer was not answered.")
        }
        var fields = HTTPHeaders()
        for field in headers.sorted(by: { $0.key < $1.key }) { fields.append(HTTPField.Name(field.key), field.value) }
        let body = try file.map { path throws(NetworkError) in try Self.content(of: path, limit) } ?? Data()
        return HTTPResponse(status: HTTPStatus(status), headers: fields, body: ResponseBody(body, limit: limit))
    }

    private static func content(of path: String, _ limit: Int64) throws(NetworkError) -> Data {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let size = Int64(clamping: try handle.seekToEnd())
            guard size <= limit else {
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "The file \(path) has \(size) bytes.",
                    hint: "Raise the limit, or read the file piece by piece.")
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
