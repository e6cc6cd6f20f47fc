// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

/// A background transfer and its state. It is kept on the disk without the fields of the request, and with secret
/// values in the URL redacted as in logs.
public struct BackgroundTransfer: Codable, Hashable, Sendable, Identifiable {
    /// The direction of a transfer, with the path of its file.
    public enum Kind: Codable, Hashable, Sendable {
        /// With a success status, the response body replaces the file at this path. If the ledger of the session was
        /// lost, the file is beside the ledger.
        case download(to: String)
        /// The file at this path is the request body, and must exist until the transfer has ended. The path is empty if
        /// the ledger of the session was lost.
        case upload(from: String)
    }

    /// The state of a transfer.
    public enum State: Codable, Hashable, Sendable {
        /// The system performs the transfer or has scheduled it.
        case running
        /// The transfer has ended, and the app has not acknowledged its outcome.
        case finished(BackgroundOutcome)
        /// The system no longer knows the transfer. With an outcome that arrives later, the state becomes `finished`.
        case lost
    }

    /// The unique identifier of the transfer.
    public let id: UUID
    /// The direction of the transfer, with the path of its file.
    public let kind: Kind
    /// The method and the URL, without secrets, for display. Has no path or query if the ledger was lost.
    public let line: String
    /// Data of the app, such as the record to which the response belongs. Written to the disk, so it must contain no
    /// secrets. Empty if the ledger of the session was lost.
    public let tags: [String: String]
    /// The state when this value was returned or delivered. Later changes do not affect this value.
    public internal(set) var state = State.running
    /// The names of fields that were declared secret, which the outcome omits. Later launches know no declarations.
    let withheld: [String]

    /// Creates a download to `path`, or without a path an upload of the file that is the body of `request`. Throws
    /// `.invalidRequest` for any other body.
    init(_ request: HTTPRequest, to path: String?, tags: [String: String] = [:]) throws(NetworkError) {
        switch (request.body.kind, path) {
        case (.empty, let path?): kind = .download(to: path)
        case (.file(let source), nil): kind = .upload(from: source)
        default:
            throw NetworkError(
                .invalidRequest, detail: "A background transfer either sends a file or saves its response to one.",
                hint: "Write the body to a file, and send .file(path). For a download, pass the path of the file.",
                request: NetworkError.RequestLine(request))
        }
        (id, self.tags) = (UUID(), tags)
        line = NetworkError.RequestLine(request).description
        withheld = request.secrets.rules?.secret.map(\.text) ?? []
    }

    /// Creates a transfer of which only the system's task is known.
    init(_ id: UUID, _ kind: Kind, line: String) {
        (self.id, self.kind, self.line, tags, withheld) = (id, kind, line, [:], [])
    }
}

/// The outcome of a background transfer, kept until the app acknowledges it.
public struct BackgroundOutcome: Codable, Hashable, Sendable {
    /// The status code of the response; nil if there was no response.
    public let status: Int?
    /// The fields of the response, without secret ones. Repeated fields are joined with commas.
    public let headers: [String: String]
    /// The path of the response body; nil if there is none, or if the body of a failed download has more than 1 MiB.
    /// For a successful download, the path that the app chose.
    public let file: String?
    /// The reason why there is no response, in one sentence; nil if there is a response.
    public let failure: String?

    init(_ response: HTTPResponse, file: String?) {
        status = response.status.code
        let kept = response.headers.filter { !response.headers.isSecret($0.name) }
        headers = Dictionary(kept.map { ($0.name.text, $0.value) }) { "\($0), \($1)" }
        self.file = file
        failure = nil
    }

    init(_ error: NetworkError) {
        (status, headers, file) = (nil, [:], nil)
        failure = "\(error.label): \(error.detail)".clipped(to: 500)
    }

    /// Returns the response, for example to decode it: `try await endpoint.decode(outcome.response(), using: .json)`.
    ///
    /// Reads the body from its file. Throws `NetworkError`: `.connectionLost` for any `failure`, `.storage` if the file
    /// cannot be read, and `.limitExceeded(.responseBody)` if the file has more than `limit` bytes.
    public func response(limit: Int64 = Limits.standard.responseBody) throws(NetworkError) -> HTTPResponse {
        guard let status else {
            throw NetworkError(.connectionLost(.requestMayHaveArrived), detail: failure ?? "")
        }
        var fields = HTTPHeaders()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { fields.append(HTTPField.Name(name), value) }
        var body = Data()
        if let file {
            guard BackgroundStore.size(of: file) ?? 0 <= limit else {
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "The file \(file) has more than \(limit) bytes.",
                    hint: "Raise the limit, or read the file in pieces.")
            }
            do { body = try PrivateFile.read(file, limit: Int(clamping: limit)) } catch {
                throw NetworkError(.storage, detail: error.description, underlying: error)
            }
        }
        return HTTPResponse(status: HTTPStatus(status), headers: fields, body: ResponseBody(body, limit: limit))
    }
}
