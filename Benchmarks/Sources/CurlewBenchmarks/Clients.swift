// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON
import Foundation

extension Request {
    static var user: Request<User> { .get("/user.json") }
}

/// The clients that run in a worker: each is one call, made again and again by every lane.
enum Clients {
    typealias Call = @Sendable () async throws -> Void

    static func make(_ name: String, width: Int, url: String, work: Work) async throws -> Call {
        switch name {
        case "curlew": try curlew(url: url, transport: transport(), work)
        case "curlew-progress": try curlew(url: url, transport: transport(), work, showsProgress: true)
        case "curlew-foundation":
            try curlew(url: url, transport: transport(), work, codecs: Codecs(decoder: JSONDecoder()))
        case "curlew-transport": try curlewTransport(url: url, transport: transport(), work)
        case "urlsession": try urlSession(url: url, connections: nil, work)
        case "urlsession-wide": try urlSession(url: url, connections: width, work)
        case "layer": layer()
        case "decoder": decoderAlone()
        case let name where CacheClients.calls.contains(name):
            try CacheClients.call(name, url: url, transport: transport(), work)
        case let name where CacheClients.lookups.contains(name): try await CacheClients.lookup(name)
        default: throw Failure("no client is called \(name)")
        }
    }

    /// Typed calls, and the transport's executor for the tasks that make them.
    static func onExecutor(url: String, work: Work) throws -> (Call, any TaskExecutor) {
        let transport = transport()
        return (try curlew(url: url, transport: transport, work), transport.executor)
    }

    /// The transport as it comes, but for whom it trusts.
    private static func transport() -> CurlTransport {
        let roots = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
        let configuration = TransportConfiguration(
            tls: TransportConfiguration.TLS(trustedRoots: roots.map { .file($0) } ?? .system))
        return CurlTransport(configuration: configuration)
    }

    /// What an app writes: a typed call.
    private static func curlew(
        url: String, transport: CurlTransport, _ work: Work, codecs: Codecs = .json, showsProgress: Bool = false
    ) throws -> Call {
        let client = APIClient(
            baseURL: try BaseURL(url), pipeline: .standard, transport: transport,
            configuration: APIClient.Configuration(codecs: codecs))
        switch work {
        case .typed:
            return {
                let user = try await client.send(.user)
                guard user.id == 1 else { throw Failure("wrong answer") }
            }
        case .bytes(let count):
            let request = Request<Data>.get("/\(count).bin")
            return {
                guard try await client.send(request).count == count else { throw Failure("wrong answer") }
            }
        case .download(let count, let file):
            return { try await Transfers.download(count, to: file, with: client, showsProgress) }
        case .upload(_, let file):
            return { try await Transfers.upload(file, with: client, showsProgress) }
        }
    }

    /// The transport alone, without types.
    private static func curlewTransport(url: String, transport: CurlTransport, _ work: Work) throws -> Call {
        guard !work.isTransfer else { throw Failure("curlew-transport does no transfers") }
        let request = try HTTPRequest(url: url + work.path)
        let size = work.size
        return {
            let data = try await transport.send(request, in: ExchangeContext()).data()
            guard data.count == size else { throw Failure("wrong answer") }
        }
    }

    /// A typed call over a transport that answers at once: what the layer costs, decoding included.
    private static func layer() -> Call {
        let transport = ClosureTransport { _, _ in
            HTTPResponse(headers: ["Content-Type": "application/json"], body: ResponseBody(Canned.user))
        }
        let client = APIClient(baseURL: "http://127.0.0.1", pipeline: .standard, transport: transport)
        return {
            let user = try await client.send(.user)
            guard user.id == 1 else { throw Failure("wrong answer") }
        }
    }

    /// The decoder alone, to take off from `layer`.
    private static func decoderAlone() -> Call {
        let decoder = FastJSONDecoder()
        return {
            guard try decoder.decode(User.self, from: Canned.user).id == 1 else { throw Failure("wrong answer") }
        }
    }
}

/// A large body to and from a file, as an app writes it.
enum Transfers {
    private static let ignore: TransferProgress.Handler = { _ in }

    static func download(_ count: Int, to path: String, with client: APIClient, _ showsProgress: Bool) async throws {
        let options = FileDownload.Options(existing: .replace)
        let request = Request<Data>.get("/\(count).bin")
        let call = try await client.download(
            request, to: path, options: options, progress: showsProgress ? ignore : nil)
        let received = Int(call.value.byteCount)
        guard received == count else { throw Failure("\(received) bytes came instead of \(count)") }
    }

    static func upload(_ path: String, with client: APIClient, _ showsProgress: Bool) async throws {
        let file = RequestContent.file(path, type: .octetStream)
        try await client.send(Request<Void>.put("/sink", body: showsProgress ? file.reporting(ignore) : file))
    }
}
