// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewFoundation
package import CurlewHTTP

/// A way of associating a call with a user, by a field that the server evaluates.
///
/// A way is a combination of the source of the field, the placement of that source, the name of the field, and the
/// order in which its interceptor and the one that stores or shares responses are added. The user is
/// `IdentityWay.user`.
package struct IdentityWay: Sendable, CustomStringConvertible {
    /// The source of the field: what adds it to the request.
    package enum Source: Sendable, Hashable {
        /// The interceptor `.onRequest(at:)`.
        case hook(Placement)
        /// An interceptor of the app that implements only the required members of the protocol.
        case interceptor(Placement)
        /// The call itself, by its `header` method.
        case call
        /// The configuration of the client. Each user then has a separate client.
        case client
    }

    /// The user of the calls in this task.
    @TaskLocal package static var user = "nobody"

    package let source: Source
    package let field: HTTPField.Name
    package let isAddedFirst: Bool

    /// All ways. For each name, they include `hook` and `interceptor` at each placement and in both orders, and `call`
    /// and `client`.
    package static let all: [IdentityWay] = names.flatMap { name in
        Placement.allCases.flatMap { [Source.hook($0), .interceptor($0)] }.flatMap { source in
            [true, false].map { IdentityWay(source: source, field: HTTPField.Name(name), isAddedFirst: $0) }
        } + [Source.call, .client].map { IdentityWay(source: $0, field: HTTPField.Name(name), isAddedFirst: true) }
    }

    /// Returns `Pipeline.standard` with `keeper` and, if there is one, the interceptor that adds the field. `keeper`
    /// stores or shares responses.
    package func pipeline(with keeper: any Interceptor) -> Pipeline {
        let field = field
        let identifier: (any Interceptor)? =
            switch source {
            case .hook(let placement):
                BuiltInInterceptor.onRequest(at: placement) { request, _ in request.headers[field] = Self.user }
            case .interceptor(let placement): Identifying(placement: placement, field: field)
            case .call, .client: nil
            }
        guard let identifier else { return .standard.adding(keeper) }
        return isAddedFirst
            ? .standard.adding(identifier).adding(keeper) : .standard.adding(keeper).adding(identifier)
    }

    /// Creates a client for the calls of all users. If the client itself adds the field, the client is for the current
    /// user only.
    package func client(over keeper: any Interceptor, _ transport: some Transport) -> APIClient {
        APIClient(
            baseURL: "https://api.test", pipeline: pipeline(with: keeper), transport: transport,
            configuration: APIClient.Configuration(headers: source == .client ? [field: Self.user] : [:]))
    }

    /// Returns a call of the current user.
    package func call(to path: RequestPath = "/me") -> Request<String> {
        source == .call ? .get(path).header(field, Self.user) : .get(path)
    }

    /// Returns the response of a server that identifies users by the field: the name of the user, fresh for ten
    /// minutes.
    package func answer(to request: HTTPRequest, _ visibility: String) -> HTTPResponse {
        HTTPResponse(
            headers: [.cacheControl: "\(visibility), max-age=600"],
            body: ResponseBody(Data((request.headers[field] ?? "nobody").utf8)))
    }

    /// Returns a server that responds to each request with `answer(to:_:)`.
    package func server(_ visibility: String) -> some Transport {
        Server { answer(to: $0, visibility) }
    }

    package var description: String {
        "\(field) by \(source), \(isAddedFirst ? "added first" : "added last")"
    }

    private struct Server: Transport {
        let answer: @Sendable (HTTPRequest) -> HTTPResponse

        func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse { answer(request) }
    }

    private struct Identifying: Interceptor {
        let placement: Placement
        let field: HTTPField.Name

        var traits: InterceptorTraits { InterceptorTraits(placement: placement) }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var request = request
            request.headers[field] = IdentityWay.user
            return try await next(request)
        }
    }
}

extension IdentityWay {
    /// The names of fields by which real services identify users, tenants, devices or keys.
    package static let names = [
        // Fields in the APIs of GitLab, HashiCorp, Google, Supabase, Parse, Shopify and Azure.
        "PRIVATE-TOKEN", "JOB-TOKEN", "X-Vault-Token", "X-Vault-Namespace", "X-Consul-Token", "X-Nomad-Token",
        "X-Goog-Api-Key", "X-Goog-User-Project", "X-Goog-IAP-JWT-Assertion", "X-Goog-Authenticated-User-Email",
        "apikey", "X-Parse-Session-Token", "X-Parse-REST-API-Key", "X-Shopify-Access-Token",
        "Ocp-Apim-Subscription-Key", "X-MS-CLIENT-PRINCIPAL",
        // Fields by which proxies forward the signed-in user to an application.
        "X-Forwarded-User", "X-Forwarded-Email", "X-Remote-User", "Remote-User", "X-Amzn-Oidc-Identity",
        "X-Amzn-Oidc-Data", "Cf-Access-Jwt-Assertion", "CF-Access-Client-Id", "CF-Access-Client-Secret",
        "Impersonate-User", "From", "baggage",
        // Identifiers of users and tenants.
        "X-User-Id", "X-Tenant-ID", "X-Scope-OrgID", "X-Grafana-Org-Id", "Stripe-Account", "X-Device-Key",
        "X-Hasura-User-Id", "X-Hasura-Admin-Secret", "X-Appwrite-JWT",
        // Keys and tokens.
        "DPoP", "Signature", "X-Secret", "X-Password", "X-Session-Token", "X-Refresh-Token", "X-Figma-Token",
        "X-Auth-Key", "X-Auth-Email", "X-Algolia-API-Key", "X-Redmine-API-Key", "X-Rundeck-Auth-Token",
        "X-JFrog-Art-Api", "Circle-Token", "DD-API-KEY", "X-Honeycomb-Team", "X-SF-Token",
        "X-Postmark-Server-Token", "X-MBX-APIKEY", "CB-ACCESS-KEY", "X-CMC_PRO_API_KEY", "X-RapidAPI-Key",
        "X-Plex-Token",
    ]
}
