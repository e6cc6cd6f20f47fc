// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCookies
package import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A way of attaching a credential to a call: the kind of credential, and the placement of its interceptor.
///
/// The kinds are the credentials that this package itself attaches. `IdentityWay` covers fields with any name. The
/// server responds with the name of the user whose credential it received.
package struct CredentialWay: Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        case keyInField, keyInQuery, basic, bearer, namedBearer, tokens, signature, jar, callField, clientField
        case certificate, socket, address
    }

    package let kind: Kind
    /// The placement of the interceptor; nil for its default placement, and for kinds without an interceptor.
    package let placement: Placement?

    /// All ways: every kind at every placement that it can have.
    package static let all: [CredentialWay] = Kind.allCases.flatMap { kind in
        let movable: Set<Kind> = [.keyInField, .keyInQuery, .basic, .bearer, .namedBearer, .tokens, .signature, .jar]
        let places: [Placement?] = movable.contains(kind) ? [nil] + Placement.allCases.map { $0 } : [nil]
        return places.map { CredentialWay(kind: kind, placement: $0) }
    }

    /// Whether the interceptor obtains the credential again for each call, so that two users can share one client.
    package var isAskedEachTime: Bool { [.bearer, .namedBearer, .signature].contains(kind) }

    /// Creates a client that attaches the credential of the current user (`IdentityWay.user`), and a call to send with
    /// it.
    package func client(
        through keeper: any Interceptor, _ server: Server, path: RequestPath = "/me"
    ) async throws -> (client: APIClient, call: Request<String>) {
        let user = IdentityWay.user
        var pipeline = Pipeline.standard.adding(keeper)
        var transport = server
        var configuration = APIClient.Configuration()
        var call = Request<String>.get(path)
        if let interceptor = try await interceptor(for: user) { pipeline = pipeline.adding(interceptor, at: placement) }
        switch kind {
        case .callField: call = call.header("X-Device", user)
        case .clientField: configuration.headers["X-Device"] = user
        case .certificate, .socket, .address: transport = server.shown(as: user, by: kind)
        default: break
        }
        let client = APIClient(
            baseURL: "https://api.test", pipeline: pipeline, transport: transport, configuration: configuration)
        return (client, call)
    }

    private func interceptor(for user: String) async throws -> (any Interceptor)? {
        switch kind {
        case .keyInField: return .apiKey(user, in: .header("X-Key"))
        case .keyInQuery: return .apiKey(user, in: .query("key"))
        case .basic: return .basic(user: user, password: "secret")
        case .bearer: return .bearer { IdentityWay.user }
        case .namedBearer: return .bearer({ IdentityWay.user }, principal: { IdentityWay.user })
        case .tokens:
            let store = TokenStore()
            try await store.signIn(Tokens(accessToken: user))
            return .bearer(store)
        case .signature:
            return .signing { request, _ in request.headers["Signature"] = IdentityWay.user }
        case .jar:
            let store = CookieStore()
            _ = store.insert(Cookie(name: "user", value: user, domain: "api.test"))
            return .cookies(store)
        default: return nil
        }
    }

    package var description: String {
        kind.rawValue + (placement.map { " at \($0)" } ?? "")
    }

    /// A server that responds with the name of the user whose credential it received, or with a placeholder if it found
    /// no credential. The response is fresh for ten minutes.
    package struct Server: Transport {
        let visibility: String
        var configuration = TransportConfiguration()
        var user: String?

        package init(_ visibility: String) {
            self.visibility = visibility
        }

        func shown(as user: String, by kind: Kind) -> Server {
            var copy = self
            copy.user = user
            switch kind {
            case .certificate: copy.configuration.tls.identity = .pem(certificate: Data(user.utf8), key: Data())
            case .socket: copy.configuration.unixSocket = "/run/\(user)"
            default: copy.configuration.dns.overrides = [.init(host: "api.test", target: "\(user).test")]
            }
            return copy
        }

        package func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
            configuration.principal(of: request, in: context)
        }

        package func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            let shown = [request.target] + request.headers.map(\.value)
            let found =
                user
                ?? ["ann", "bob"].first { name in
                    let code = Data("\(name):secret".utf8).base64EncodedString()
                    return shown.contains { $0.contains(name) || $0.contains(code) }
                }
            return HTTPResponse(
                headers: [.cacheControl: "\(visibility), max-age=600"],
                body: ResponseBody(Data((found ?? "nobody").utf8)))
        }
    }
}
