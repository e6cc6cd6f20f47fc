// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// A transport that records exchanges to a file once, and later responds from the file without a network.
///
///     let cassette = try Cassette("Fixtures/users.har", recording: CurlTransport())
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard, transport: cassette)
///     // … calls …
///     try await cassette.finish()             // saves what was recorded, and throws if an entry was not used
///
/// The file is a HAR 1.2 document, which browsers and other viewers open. The ``Mode`` is chosen for a test run by the
/// environment variable `CURLEW_CASSETTES`. By default it is ``Mode/replay``, which never uses the network.
///
/// - **Matching**: a request gets the response of the first entry that was not replayed yet and is equal in the method,
///   the URL and the body. The order of the query's items, of the members of JSON and of the pairs of a form does not
///   matter, nor does the boundary of a multipart body. ``Matching`` changes what is compared. Several recordings of
///   one request are replayed in their order. A request without a match fails with `.refused(by: .cassette)`, and the
///   error names the nearest entry with the first difference: see ``RequestMismatch``.
/// - **Secrets**: values that the redaction and the client's declarations hide are replaced by `REDACTED` before they
///   are stored, in both messages. A body whose secrets cannot be recognized (binary, XML, multipart) fails the
///   recording, unless ``Options/opaqueTypes`` allows its media type. Requests are redacted before they are matched, so
///   a replay needs no credential. The original response goes to the caller while it is recorded.
/// - **Bodies**: a streamed response is recorded while the caller reads it. Content codings are decoded. Event streams
///   and JSON Lines keep their chunks (`_chunks`). Trailers (`_trailers`) and interim responses (`_interim`) are
///   recorded and replayed. A body that the caller does not read to its end is not recorded and is one of the
///   ``problems``, except for an event stream, which ends there.
/// - **Failures** of the recorded transport are entries too, with the field `_error`. The replay throws a
///   `NetworkError` with the same reason. Cancelled requests are not recorded.
/// - **Files** have the mode 0600 and are replaced atomically. One cassette at a time records a file: see ``save()``.
///
/// A cassette may be used concurrently and by several clients. Each cassette replays the file from the start. Tests
/// that record one file share a cassette.
public final class Cassette: Transport {
    /// The path of the file.
    public let path: String
    /// The mode in which the cassette works.
    public let mode: Mode
    let options: Options
    let base: (any Transport)?
    let state: Locked<CassetteState>

    /// Creates a cassette, and reads its file. In the mode ``Mode/recordAll``, a damaged file counts as a missing one.
    ///
    /// - `mode`: default the mode that the environment variable `CURLEW_CASSETTES` names, ``Mode/replay`` without it.
    /// - `transport`: the transport that is recorded. Default nil, for a cassette that is only replayed.
    /// - `options`: the matching, the redaction and the limits.
    ///
    /// Throws `NetworkError`: `.storage` for a file that is missing in the mode ``Mode/replay`` or cannot be read,
    /// `.decoding` for a file that is not a HAR document, `.configuration` for a mode that records without a transport
    /// and for an unknown value of `CURLEW_CASSETTES`, and `.refused(by: .cassette)` for the second cassette of this
    /// process that replaces the file in the mode ``Mode/recordAll``.
    public init(
        _ path: String, mode: Mode? = nil, recording transport: (any Transport)? = nil, options: Options = Options()
    ) throws(NetworkError) {
        self.path = path
        self.options = options
        base = transport
        self.mode = if let mode { mode } else { try Mode.environment() }
        guard self.mode == .replay || transport != nil else {
            throw NetworkError(
                .configuration, detail: "The cassette \(path) must be recorded, but it has no transport.",
                hint: "Pass one: Cassette(path, recording: CurlTransport()).")
        }
        let file = CassetteFile(path: path, options: options)
        let digest = self.mode == .replay ? nil : file.digest()
        let old = try file.load(mode: self.mode)
        state = Locked(
            CassetteState(
                index: CassetteIndex(self.mode == .recordAll ? [] : old, options: options), previous: old,
                digest: digest))
    }

    /// Replays the entry that matches the request, or records the response of the transport, according to the mode.
    /// Throws `.refused(by: .cassette)` for a request without a match, and for a message that must not be recorded.
    public func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        do {
            try Task.checkCancellation()
            try request.validate()
            let secrets = request.secrets.isEmpty ? context.secrets : request.secrets
            let redaction = secrets.added(to: options.redaction)
            let (data, outgoing) = try await read(request)
            let recorded = HARDocument.Request(request, body: data, redaction: redaction, opaqueBodies: .kept)
            let shown = CassetteRequest(recorded, options.matching, options.redaction)
            if mode != .recordAll, let slot = state.withLock({ $0.index.take(shown) }) {
                return try CassetteReplay(entry: slot.entry).response(to: request, in: context)
            }
            if let base, mode != .replay {
                let recording = try CassetteRecording(outgoing, body: data, on: self, redaction, context)
                return try await recording.send(over: base)
            }
            throw mismatch(shown, redaction, line: NetworkError.RequestLine(request.knowing(secrets)))
        } catch is CancellationError {
            throw NetworkError(.cancelled)
        }
    }

    /// Returns the principal of the recorded transport; `.anonymous` without one.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        base?.principal(of: request, in: context) ?? .anonymous
    }

    /// Shuts down the recorded transport, and saves the recorded entries. An error becomes one of the ``problems``.
    public func shutdown(_ mode: TransportConfiguration.ShutdownMode) async {
        await base?.shutdown(mode)
        do {
            try await save()
        } catch {
            report("The cassette could not be saved: \(error.detail)")
        }
    }

    /// Reads the body of a request. Also returns the request to send, whose body can be produced again.
    private func read(_ request: HTTPRequest) async throws -> (Data, HTTPRequest) {
        if let data = request.body.data {
            guard data.count <= options.maximumBodyBytes else { throw tooLong("request", request) }
            return (data, request)
        }
        guard request.body.canReplay || request.body.trailers == nil else {
            throw NetworkError(
                .refused(by: .cassette),
                detail: "A body with trailers that can be produced only once cannot be recorded.",
                hint: "Use a stream with the replay `.always`.", request: NetworkError.RequestLine(request))
        }
        let reader = try await request.body.read(keeping: options.maximumBodyBytes)
        guard reader.count <= Int64(options.maximumBodyBytes) else { throw tooLong("request", request) }
        guard !request.body.canReplay else { return (reader.data, request) }
        var copy = request
        copy.body = .bytes(reader.data)
        return (reader.data, copy)
    }

    func tooLong(_ message: String, _ request: HTTPRequest) -> NetworkError {
        NetworkError(
            .refused(by: .cassette),
            detail: "The body of the \(message) has over \(options.maximumBodyBytes) bytes, the limit of a cassette.",
            hint: "Raise Cassette.Options.maximumBodyBytes, or do not record this call.",
            request: NetworkError.RequestLine(request))
    }

    func report(_ problem: String) {
        state.withLock { $0.add(problem: problem) }
    }
}

extension Cassette: CustomStringConvertible {
    /// The path, the mode and the number of entries.
    public var description: String { "Cassette(\(path), \(mode.rawValue), entries: \(count))" }
}

extension NetworkError.Policy {
    /// A ``Cassette`` has no response for the request, must not record, or failed its verification.
    public static let cassette = NetworkError.Policy("cassette")
}

struct CassetteState: Sendable {
    var index: CassetteIndex
    let previous: [HARDocument.Entry]
    /// The digest of the file as this cassette knows it; nil without a file.
    var digest: Data?
    /// The recorded entries in the order of their requests; nil until a response is complete.
    var recorded: [HARDocument.Entry?] = []
    var recordedCount = 0
    var hasUnsaved = false
    var problems: [String] = []

    static let maximumProblems = 1000

    mutating func add(problem: String) {
        if problems.count < Self.maximumProblems { problems.append(problem) }
    }
}
