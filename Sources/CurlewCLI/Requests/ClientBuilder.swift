// SPDX-License-Identifier: MIT

import Curlew
import CurlewAuthentication
import CurlewCookies
import CurlewCore
import CurlewHTTP

#if os(Linux)
import CurlewCurl
#else
import CurlewURLSession
#endif

/// Creates the client that the options describe.
struct ClientBuilder {
    let arguments: ParsedArguments
    let io: CommandIO
    /// The number of connections per host.
    var connections = 64
    /// The timeout of the whole call if `--max-time` is absent.
    var total: Duration?
    /// Whether the plan names the origin of the requests. If not, `--auth` applies to the origins of `--auth-origin` only.
    var hasTarget = true
    /// Whether redirects are followed without `--follow`.
    var follows = false

    /// Returns the client for a plan, and the session whose cookies are to be saved.
    func client(
        for plan: RequestPlan, observers: [any RequestObserver] = [], adding extra: [any Interceptor] = []
    ) throws -> (client: APIClient, session: Session?) {
        let session = try Session(arguments, io)
        var pipeline: Pipeline = []
        if follows || arguments.has(.follow) { pipeline = pipeline.adding(.redirects()) }
        if let retries = try arguments.number(.retry, in: 0...100), retries > 0 {
            pipeline = pipeline.adding(.retry(.attempts(retries + 1)))
        }
        if let session { pipeline = pipeline.adding(.cookies(session.cookies)) }
        for (origin, credential) in try credentials(session, for: plan) {
            pipeline = pipeline.adding(credential.interceptor(for: origin))
        }
        if !plan.removed.isEmpty { pipeline = pipeline.adding(FieldRemoval(names: plan.removed)) }
        for interceptor in extra { pipeline = pipeline.adding(interceptor) }
        var configuration = APIClient.Configuration(
            userAgent: plan.removed.contains(.userAgent) ? nil : "curlew/0.1", timeouts: try timeouts(),
            limits: Limits(responseBody: .max, download: .max, decodedRatio: nil), observers: observers)
        configuration.completionExecutor = .anywhere
        return (
            APIClient(baseURL: nil, pipeline: pipeline, transport: try transport(plan), configuration: configuration),
            session
        )
    }

    /// Returns the origins that receive a credential, and keeps it in the session.
    private func credentials(_ session: Session?, for plan: RequestPlan) throws -> [(Origin, Credential)] {
        let own = try HTTPRequest(url: plan.url).origin
        guard let credential = try Credential(arguments, io) else {
            guard !arguments.has(.authOrigin) else { throw UsageError("--auth-origin needs --auth.") }
            return session?.kept ?? []
        }
        let named = try arguments.all(.authOrigin).map { url in
            try HTTPRequest(url: URLShorthand.complete(url)).origin
        }
        let origins = named.isEmpty && hasTarget ? [own] : named
        if !isPreview { try session?.save(credential, for: origins) }
        let others = (session?.kept ?? []).filter { !origins.contains($0.0) }
        return origins.map { ($0, credential) } + others
    }

    /// Whether nothing is sent, so that nothing is kept either.
    private var isPreview: Bool { arguments.has(.offline) || arguments.has(.curl) || arguments.has(.items) }

    private func timeouts() throws(UsageError) -> Timeouts {
        let total = try arguments.seconds(.maxTime) ?? total
        guard let connect = try arguments.seconds(.connectTimeout) else { return Timeouts(total: total) }
        return Timeouts(connect: connect, total: total)
    }

    private func transport(_ plan: RequestPlan) throws(UsageError) -> any Transport {
        var configuration = TransportConfiguration(proxy: .environment)
        configuration.pool.perHost = connections
        if let text = arguments[.proxy] {
            guard let server = ProxyConfiguration.Server(text) else {
                throw UsageError("--proxy is not the URL of a proxy.", "Write http://host:3128 or socks5://host:1080.")
            }
            configuration.proxy = .fixed(server)
        }
        if let path = arguments[.cacert] { configuration.tls.trustedRoots = .file(io.path(path)) }
        if let certificate = arguments[.cert] {
            let key = arguments[.key] ?? certificate
            configuration.tls.identity = .pemFiles(certificate: io.path(certificate), key: io.path(key))
        } else if arguments.has(.key) {
            throw UsageError("--key needs --cert.")
        }
        guard !arguments.has(.http1) || !arguments.has(.http2) else {
            throw UsageError("--http1.1 and --http2 exclude each other.")
        }
        if arguments.has(.http1) {
            configuration.httpVersions = .http1Only
        } else if arguments.has(.http2), URLShorthand.scheme(of: plan.url)?.lowercased() == "http" {
            configuration.httpVersions = .http2PriorKnowledge
        }
        if let path = arguments[.unixSocket] {
            configuration.unixSocket = io.path(path)
            configuration.proxy = .none
        }
        let overrides = try arguments.all(.resolve).map { text throws(UsageError) in
            let parts = text.parts(":", most: 3)
            guard parts.count == 3, let port = Int(parts[1]) else {
                throw UsageError("--resolve needs HOST:PORT:ADDRESS, not \"\(text)\".")
            }
            return TransportConfiguration.DNS.Override(
                host: String(parts[0]), port: port, target: String(parts[2].trimmed { $0 == 0x5B || $0 == 0x5D }))
        }
        if !overrides.isEmpty { configuration.dns = TransportConfiguration.DNS(overrides: overrides) }
        #if os(Linux)
        return CurlTransport(configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        #else
        return URLSessionTransport(configuration: configuration)
        #endif
    }
}
