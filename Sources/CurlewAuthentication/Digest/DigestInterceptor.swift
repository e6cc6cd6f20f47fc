// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Responds to the `Digest` challenges of one origin. For the rules, see `.digest(user:password:for:name:minimum:)`.
struct DigestInterceptor: Interceptor {
    private let scope: CredentialScope
    private let authenticator: Locked<DigestAuthenticator>
    private let holder: [String]

    init(
        user: String, password: String, for url: String? = nil, name: String? = nil,
        minimum: BuiltInInterceptor.DigestMinimum = .sha256
    ) {
        self.init(DigestAuthenticator(user: user, password: password, minimum: minimum), for: url, name: name)
    }

    init(_ authenticator: sending DigestAuthenticator, for url: String? = nil, name: String? = nil) {
        scope = CredentialScope(url, name: name)
        holder = ["digest", name ?? "", authenticator.user, authenticator.password]
        self.authenticator = Locked(authenticator)
    }

    var traits: InterceptorTraits {
        InterceptorTraits(
            .authentication, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
    }

    /// Sends the request, with a credential if a challenge has already arrived. After a supported challenge, sends the
    /// request again with a new credential.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.admits(request, in: next.context) else { return try await next(request) }
        var attempts = 0
        var context: ExchangeContext?
        while true {
            let field = authenticator.withLock { $0.authorization(method: request.method, target: request.target) }
            var authorized = request
            if let field { authorized.headers[.authorization] = field }
            // Before the first challenge there is nothing to attach, but a required credential counts as present.
            let response =
                if let context { try await next.again(authorized, in: context.authenticated) } else {
                    try await next(authorized, context: next.context.authenticated)
                }
            attempts += 1
            let isTaken = response.status != .unauthorized
            let info = response.headers["Authentication-Info"]
            if isTaken || info != nil {
                authenticator.withLock { authenticator in
                    if isTaken, let field { authenticator.succeed(field) }
                    if let info { authenticator.receiveInfo(info) }
                }
            }
            if isTaken { return response }
            let challenges = HTTPChallenge.list(response.headers[values: .wwwAuthenticate])
            let verdict = authenticator.withLock { $0.receive(challenges, to: request.target, sent: field) }
            if case .weak(let offered, let wanted) = verdict {
                response.body.cancel()
                throw Self.refusal(offered, wanted, request)
            }
            guard verdict == .again, attempts < 3, request.body.canReplay else { return response }
            try await response.body.finish(on: next.context.time)
            context = (context ?? next.context).following(response, because: .challenged)
        }
    }

    private static func refusal(
        _ offered: BuiltInInterceptor.DigestMinimum, _ wanted: BuiltInInterceptor.DigestMinimum, _ request: HTTPRequest
    ) -> NetworkError {
        NetworkError(
            .notAuthenticated(.refused),
            detail:
                "\(request.origin) asks for \(offered), which is weaker than \(wanted). The client did not respond.",
            hint: "If the server has never supported more, allow it: .digest(user: …, password: …, minimum: "
                + ".\(offered.name)). If it has, another server may have responded.",
            request: NetworkError.RequestLine(request))
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.admits(request, in: context) else { return .anonymous }
        return .holder(of: holder, in: context)
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The digest credential", in: setup) { ".digest(user: …, password: …, for: \"\($0)\")" }
    }
}

extension DigestInterceptor: MirroredByDescription {
    var description: String { scope.label("Digest") }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Responds to `Digest` challenges of one origin (RFC 7616) without sending the password.
    ///
    /// The rules of `.bearer` determine which requests receive a credential, also over plain http, where an
    /// eavesdropper can test passwords offline.
    ///
    /// - The first request has no credential, and is sent again after its 401. Later calls send the credential at once.
    /// - Supported algorithms are SHA-256, and MD5 if the app allows it, each also in its session variant. SHA-512-256
    ///   and `auth-int` are not supported.
    /// - A challenge that is weaker than `minimum`, or than an earlier challenge from the server, fails the call with
    ///   `.notAuthenticated(.refused)`.
    /// - A request is sent at most three times: without a credential, with a stale nonce, and with the new nonce.
    /// - If the server rejects the password, or no challenge is supported, the 401 is returned to the caller. So is the
    ///   401 of a request whose body cannot be produced again; therefore begin with a call that has no such body.
    ///
    /// Copies of the interceptor share the server's nonce and the minimum that its challenges must reach.
    ///
    /// - `url`: a URL of the origin whose challenges are handled; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the credential with `.named`; nil for all calls that select none.
    /// - `minimum`: the weakest challenge that is accepted. Default SHA-256.
    public static func digest(
        user: String, password: String, for url: String? = nil, name: String? = nil,
        minimum: BuiltInInterceptor.DigestMinimum = .sha256
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(DigestInterceptor(user: user, password: password, for: url, name: name, minimum: minimum))
    }
}

extension BuiltInInterceptor {
    /// The minimum strength of the digest challenges that a client responds to. The levels are ordered from weak to
    /// strong.
    ///
    /// An attacker who impersonates the server, or who eavesdrops on plain http, obtains a hash with which passwords
    /// can be tested offline. The algorithm determines how many passwords per second can be tested. Levels weaker than
    /// `sha256`, the default, must be allowed explicitly.
    public enum DigestMinimum: Comparable, Hashable, Sendable {
        /// Any supported algorithm, with or without `qop`. Servers of RFC 2069 offer no `qop`: the only nonce in the
        /// hash is then the server's, and an attacker who impersonates the server can choose it.
        case withoutProtection
        /// MD5 with `qop=auth`, the strongest level that Apache and many devices support.
        case md5
        /// SHA-256 with `qop=auth`, the strongest level. This is the default.
        case sha256
    }
}

extension BuiltInInterceptor.DigestMinimum: CustomStringConvertible {
    /// The name of the level in error messages, such as `SHA-256`.
    public var description: String {
        switch self {
        case .withoutProtection: "digest without qop (RFC 2069)"
        case .md5: "MD5"
        case .sha256: "SHA-256"
        }
    }

    /// The name of the enum case, for code in hints.
    var name: String {
        switch self {
        case .withoutProtection: "withoutProtection"
        case .md5: "md5"
        case .sha256: "sha256"
        }
    }
}
