// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation

@testable import CurlewTransfers

/// A server of both protocols in memory, which keeps every byte that arrives.
final class UploadServerModel: Sendable {
    struct Upload {
        var bytes = Data()
        var length: Int64?
        var isComplete = false
        var isPart = false
        var metadata: String?
    }

    struct State {
        var uploads: [String: Upload] = [:]
        /// The bytes of all requests that arrived, including those of uploads that were lost later.
        var received = 0
        var methods: [String] = []
        var count = 0
    }

    let resumption: CurlewTransfers.Upload.Resumption
    let offered: String
    let algorithms = "md5,sha1,sha256"
    /// The value of `Upload-Limit`.
    let limits: String?
    let origin: String
    let state = Locked(State())
    private let id = UUID().uuidString

    /// The URL of the upload with this number.
    func url(_ number: Int) -> String { "\(origin)/uploads/\(id)-\(number)" }

    init(
        _ resumption: CurlewTransfers.Upload.Resumption = .tus, offered: String? = nil, limits: String? = nil,
        origin: String = "https://mock.test"
    ) {
        self.resumption = resumption
        self.offered = offered ?? "creation,creation-defer-length,expiration,termination,concatenation,checksum"
        self.limits = limits
        self.origin = origin
    }

    var received: Int { state.withLock { $0.received } }
    var methods: [String] { state.withLock { $0.methods } }
    /// The upload that is complete and no part of another one.
    var only: Upload? {
        state.withLock { state in
            let whole = state.uploads.values.filter { !$0.isPart && $0.isComplete }
            return whole.count == 1 ? whole.first : nil
        }
    }

    /// Processes a request of which only a part of the content may have arrived.
    func answer(
        _ method: String, _ path: String, _ headers: HTTPHeaders, _ body: Data, isCut: Bool = false
    ) -> (status: Int, headers: HTTPHeaders) {
        state.withLock { state in
            state.methods.append(method)
            switch method {
            case "OPTIONS": return (204, options)
            case "HEAD": return head(path, &state)
            case "PATCH": return append(path, headers, body, isCut, &state)
            case "DELETE": return (state.uploads.removeValue(forKey: path) == nil ? 404 : 204, [:])
            default: return create(headers, body, isCut, &state)
            }
        }
    }

    private var options: HTTPHeaders {
        if resumption == .tus {
            return [
                "Tus-Version": "1.0.0", "Tus-Extension": offered, "Tus-Max-Size": "1000000000",
                "Tus-Checksum-Algorithm": algorithms,
            ]
        }
        var headers: HTTPHeaders = ["Accept-Patch": "application/partial-upload"]
        headers["Upload-Limit"] = limits
        return headers
    }

    private func create(
        _ headers: HTTPHeaders, _ body: Data, _ isCut: Bool, _ state: inout State
    ) -> (Int, HTTPHeaders) {
        state.count += 1
        let path = "/uploads/\(id)-\(state.count)"
        var upload = Upload()
        state.received += body.count
        upload.bytes = body
        upload.metadata = headers["Upload-Metadata"] ?? headers["Content-Disposition"]
        upload.length = headers["Upload-Length"].flatMap { Int64($0) }
        let concat = headers["Upload-Concat"]
        upload.isPart = concat == "partial"
        if let concat, concat.hasPrefix("final;") {
            for url in concat.dropFirst(6).split(separator: " ") {
                guard let part = state.uploads[self.path(of: String(url))], part.isComplete else { return (400, [:]) }
                upload.bytes.append(part.bytes)
            }
            upload.length = Int64(upload.bytes.count)
        }
        upload.isComplete = isComplete(upload, headers, isCut)
        state.uploads[path] = upload
        var fields: HTTPHeaders = [.location: origin + path]
        if !body.isEmpty { fields["Upload-Offset"] = "\(body.count)" }
        if resumption == .draft { fields["Upload-Limit"] = limits }
        return (201, fields)
    }

    private func head(_ path: String, _ state: inout State) -> (Int, HTTPHeaders) {
        guard let upload = state.uploads[path] else { return (404, [:]) }
        var fields: HTTPHeaders = ["Upload-Offset": "\(upload.bytes.count)"]
        if let length = upload.length {
            fields["Upload-Length"] = "\(length)"
        } else if resumption == .tus {
            fields["Upload-Defer-Length"] = "1"
        }
        if resumption == .draft { fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
        return (200, fields)
    }

    private func append(
        _ path: String, _ headers: HTTPHeaders, _ body: Data, _ isCut: Bool, _ state: inout State
    ) -> (Int, HTTPHeaders) {
        guard var upload = state.uploads[path] else { return (404, [:]) }
        guard headers["Upload-Offset"] == "\(upload.bytes.count)" else {
            return (409, ["Upload-Offset": "\(upload.bytes.count)"])
        }
        if let checksum = headers["Upload-Checksum"] {
            let digest = "sha256 " + MessageDigest.sha256(body).base64EncodedString()
            guard checksum == digest, !isCut else { return (460, [:]) }
        }
        state.received += body.count
        upload.bytes.append(body)
        if !isCut, let length = headers["Upload-Length"] { upload.length = Int64(length) }
        upload.isComplete = isComplete(upload, headers, isCut)
        state.uploads[path] = upload
        var fields: HTTPHeaders = ["Upload-Offset": "\(upload.bytes.count)"]
        if resumption == .draft { fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
        return (resumption == .draft && upload.isComplete ? 200 : 204, fields)
    }

    private func isComplete(_ upload: Upload, _ headers: HTTPHeaders, _ isCut: Bool) -> Bool {
        resumption == .tus
            ? upload.length == Int64(upload.bytes.count) : headers["Upload-Complete"] == "?1" && !isCut
    }

    private func path(of url: String) -> String {
        "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    /// A transport to this server.
    ///
    /// - `fault`: receives the number of the request, and returns how many bytes of it arrive before the connection is
    ///   lost, or the response of something before the server.
    func transport(
        _ fault: @escaping @Sendable (Int, RecordedCall) async throws -> Fault = { _, _ in .none }
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
                _ = self.answer(method, path, call.request.headers, call.body.prefix(bytes), isCut: true)
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

/// The error that an upload ends with, or nil.
func uploadFailure(_ work: () async throws -> Void) async -> NetworkError? {
    do {
        try await work()
        return nil
    } catch {
        return NetworkError(error)
    }
}
