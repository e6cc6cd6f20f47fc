// SPDX-License-Identifier: MIT

@testable import CurlewTransfers

/// A tus server in memory, which keeps every byte that arrives.
final class UploadServerModel: Sendable {
    struct Upload {
        var bytes = Data()
        var length: Int64?
        var isComplete = false
        var metadata: String?
    }

    struct State {
        var uploads: [String: Upload] = [:]
        /// The bytes of all requests that arrived, including those of uploads that were lost later.
        var received = 0
        var methods: [String] = []
        var count = 0
    }

    let origin: String
    let state = Locked(State())
    private let id = UUID().uuidString

    /// The URL of the upload with this number.
    func url(_ number: Int) -> String { "\(origin)/uploads/\(id)-\(number)" }

    init(origin: String = "https://mock.test") {
        self.origin = origin
    }

    var received: Int { state.withLock { $0.received } }
    var methods: [String] { state.withLock { $0.methods } }
    /// The only upload that is complete.
    var only: Upload? {
        state.withLock { state in
            let whole = state.uploads.values.filter(\.isComplete)
            return whole.count == 1 ? whole.first : nil
        }
    }

    /// Processes a request of which only a part of the content may have arrived.
    func answer(
        _ method: String, _ path: String, _ headers: HTTPHeaders, _ body: Data
    ) -> (status: Int, headers: HTTPHeaders) {
        state.withLock { state in
            state.methods.append(method)
            switch method {
            case "OPTIONS": return (204, options)
            case "HEAD": return head(path, &state)
            case "PATCH": return append(path, headers, body, &state)
            case "DELETE": return (state.uploads.removeValue(forKey: path) == nil ? 404 : 204, [:])
            default: return create(headers, &state)
            }
        }
    }

    private var options: HTTPHeaders {
        [
            "Tus-Version": "1.0.0", "Tus-Extension": "creation,expiration,termination",
            "Tus-Max-Size": "1000000000",
        ]
    }

    private func create(_ headers: HTTPHeaders, _ state: inout State) -> (Int, HTTPHeaders) {
        state.count += 1
        let path = "/uploads/\(id)-\(state.count)"
        var upload = Upload()
        upload.metadata = headers["Upload-Metadata"]
        upload.length = headers["Upload-Length"].flatMap { Int64($0) }
        upload.isComplete = upload.length == 0
        state.uploads[path] = upload
        return (201, [.location: origin + path])
    }

    private func head(_ path: String, _ state: inout State) -> (Int, HTTPHeaders) {
        guard let upload = state.uploads[path] else { return (404, [:]) }
        var fields: HTTPHeaders = ["Upload-Offset": "\(upload.bytes.count)"]
        if let length = upload.length {
            fields["Upload-Length"] = "\(length)"
        }
        return (200, fields)
    }

    private func append(
        _ path: String, _ headers: HTTPHeaders, _ body: Data, _ state: inout State
    ) -> (Int, HTTPHeaders) {
        guard var upload = state.uploads[path] else { return (404, [:]) }
        guard headers["Upload-Offset"] == "\(upload.bytes.count)" else {
            return (409, ["Upload-Offset": "\(upload.bytes.count)"])
        }
        state.received += body.count
        upload.bytes.append(body)
        upload.isComplete = upload.length == Int64(upload.bytes.count)
        state.uploads[path] = upload
        return (204, ["Upload-Offset": "\(upload.bytes.count)"])
    }

    /// A transport to this server.
    ///
    /// - `fault`: receives the number of the request, and returns how many bytes of it arrive before the connection is
    ///   lost, or the response of something before the server.
    func transport(
        _ fault: @escaping @Sendable (Int, RecordedRequest) async throws -> Fault = { _, _ in .none }
    ) -> MockTransport {
        let count = Locked(0)
        return MockTransport.answering { call in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            let (method, path) = (call.method.rawValue, call.path)
            switch try await fault(number, call) {
            case .none: break
            case .status(let status, let headers): return .status(HTTPStatus(status), headers: headers)
            case .lost:
                throw NetworkError(.connectionLost(.requestMayHaveArrived))
            case .cut(let bytes):
                _ = self.answer(method, path, call.request.headers, call.body.prefix(bytes))
                throw NetworkError(.connectionLost(.requestMayHaveArrived))
            case .lostResponse:
                _ = self.answer(method, path, call.request.headers, call.body)
                throw NetworkError(.connectionLost(.requestMayHaveArrived))
            }
            let (status, headers) = self.answer(method, path, call.request.headers, call.body)
            return .status(HTTPStatus(status), headers: headers)
        }
    }

    enum Fault: Sendable {
        case none
        /// Nothing arrives.
        case lost
        /// This many bytes of the content arrive.
        case cut(Int)
        case lostResponse
        case status(Int, HTTPHeaders)
    }
}

/// A client whose waits between attempts take no time.
func uploadClient(_ transport: MockTransport, _ pipeline: Pipeline = []) -> APIClient {
    .mock(transport, pipeline: pipeline, configuration: .init(time: ManualClock.skippingWaits))
}

/// The error that an upload ends with, or nil.
func uploadFailure(_ work: () async throws -> Void) async -> NetworkError? {
    do {
        try await work()
        return nil
    } catch {
        return NetworkError(error)
    }
}
