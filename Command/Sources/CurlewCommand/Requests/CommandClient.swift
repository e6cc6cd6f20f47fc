// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording

/// The client of one run, with what the options add to it: credentials, cookies, explanations, records, times.
struct CommandClient: Sendable {
    let client: APIClient
    let console: Console
    let log = ExchangeLog()
    private let arguments: ParsedArguments
    private let session: Session?
    private let recorder: FlightRecorder?

    /// - `follows`: whether redirects are followed without `--follow`.
    init(
        _ arguments: ParsedArguments, _ io: CommandIO, for plan: RequestPlan, follows: Bool = false,
        observers: [any RequestObserver] = [], adding extra: [any Interceptor] = []
    ) throws {
        self.arguments = arguments
        console = Console(arguments, io)
        session = try Session(arguments, io)
        let redaction: Redaction = arguments.has(.showSecrets) ? .none : .standard
        let records = arguments.has(.har) || arguments.has(.report)
        recorder = records ? FlightRecorder(memory: 256 << 20, bodies: .upTo(1 << 20), redaction: redaction) : nil
        var pipeline: Pipeline = []
        if follows || arguments.has(.follow) { pipeline = pipeline.adding(.redirects()) }
        if let retries = try arguments.number(.retry, in: 0...100), retries > 0 {
            pipeline = pipeline.adding(.retry(.attempts(retries + 1)))
        }
        if let session { pipeline = pipeline.adding(.cookies(session.cookies)) }
        if let credential = try Credential(arguments, io) {
            let named = try arguments.all(.authOrigin).map { try URLShorthand.complete($0) }
            for url in named.isEmpty ? [plan.url] : named {
                pipeline = pipeline.adding(credential.interceptor(for: try HTTPRequest(url: url).origin))
            }
        } else if arguments.has(.authOrigin) {
            throw UsageError("--auth-origin needs --auth.")
        }
        if !plan.removed.isEmpty { pipeline = pipeline.adding(FieldRemoval(names: plan.removed)) }
        if let recorder { pipeline = pipeline.adding(.recording(recorder)) }
        for interceptor in extra { pipeline = pipeline.adding(interceptor) }
        var observers: [any RequestObserver] = observers + [log]
        if arguments.has(.explain) {
            observers.append(
                Explainer { [console] in
                    console.note(console.errorStyle(.dim, console.wrapped($0, hanging: 2)))
                })
        }
        let configuration = APIClient.Configuration(
            userAgent: plan.removed.contains(.userAgent) ? nil : "curlew/0.1",
            timeouts: Timeouts(total: try arguments.seconds(.maxTime)),
            limits: Limits(responseBody: .max, download: .max, decodedRatio: nil), observers: observers)
        client = APIClient(
            baseURL: nil, pipeline: pipeline, transport: try Self.transport(arguments, io),
            configuration: configuration)
    }

    /// Runs `work`, and then writes what the options ask for, also after a failure, which is more important than a
    /// failure to write.
    func run<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            writeTimes()
            // Each is written, even if another one cannot be.
            let kept = Result { try session?.save() }
            try writeRecords()
            try kept.get()
            return value
        } catch {
            writeTimes()
            try? session?.save()
            do { try writeRecords() } catch let other as NetworkError {
                console.note("curlew: " + SafeText.lines(other.detail))
            } catch {}
            throw error
        }
    }

    private func writeTimes() {
        guard arguments.has(.timing) else { return }
        let io = console.io
        let text = TimingText(style: console.errorStyle, columns: io.columns, isUnicode: io.isUnicode)
        io.note(text.text(log.all))
    }

    private func writeRecords() throws {
        guard let document = recorder?.har() else { return }
        if let path = arguments[.har] { try console.io.replace(path, with: document.data(pretty: true)) }
        if let path = arguments[.report] {
            try console.io.replace(path, with: Data(HTMLReport(document).text.utf8))
        }
    }

    private static func transport(_ arguments: ParsedArguments, _ io: CommandIO) throws(UsageError) -> any Transport {
        var configuration = TransportConfiguration(proxy: .environment)
        if let text = arguments[.proxy] {
            guard let server = TransportConfiguration.Proxy.Server(text) else {
                throw UsageError("--proxy is not the URL of a proxy.", "Write http://host:3128 or socks5://host:1080.")
            }
            configuration.proxy = .fixed(server)
        }
        if let path = arguments[.cacert] { configuration.tls.trustedRoots = .file(io.path(path)) }
        #if os(Linux)
        return CurlTransport(configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        #else
        return URLSessionTransport(configuration: configuration)
        #endif
    }
}

/// The limit of `--max-time` for uploads and streams, to which the client's limit for one call does not apply.
enum TimeLimit {
    /// Runs `work`, and cancels it when the time is over. Throws `.timedOut` then.
    static func run<Value: Sendable>(
        _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        let isOver = Locked(false)
        let task = Task { try await work() }
        let timer = Task {
            try await Task.sleep(for: limit)
            isOver.withLock { $0 = true }
            task.cancel()
        }
        defer { timer.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch  where isOver.withLock({ $0 }) {
            throw NetworkError(
                .timedOut(.total), detail: "The time of --max-time is over.", hint: "Give it more time, or none.")
        }
    }
}
