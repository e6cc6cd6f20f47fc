// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The description of an interceptor, which a pipeline reads once, when the interceptor is added.
///
///     struct DeviceKey: Interceptor {
///         let key: String
///         var traits: InterceptorTraits {
///             var traits = InterceptorTraits(placement: .authentication) { _, context in
///                 .holder(of: ["device", key], in: context)
///             }
///             traits.fields.secret = ["X-Device-Key"]
///             return traits
///         }
///         …
///     }
///
/// The defaults are safe for an interceptor that attaches a credential: what it adds is sent to the client's origin
/// only (`Scope.clientOrigin`), and no response is stored or shared, because it may belong to a user.
public struct InterceptorTraits: Sendable {
    /// The placement at which `Pipeline.adding(_:)` inserts the interceptor if no other is passed. Default `.custom`.
    public var placement: Placement
    /// The origin that may receive what the interceptor adds. For other origins, added fields are removed unless they
    /// are harmless or declared (`Redaction.Rules.harmless`), and added query items if their names are secret.
    public var scope: Scope
    /// Whether `APIClient.preview` runs the interceptor; false if it needs a response. Default true.
    public var runsInPreview: Bool
    /// Returns the principal whose credential the interceptor would attach to a request now, without I/O. Called only
    /// by components that store or share responses (`Next.principal(of:)`) and by `APIClient.problems`.
    ///
    /// Caches and coalescing closer to the caller cannot see what the interceptor adds. With `.unknown` they store and
    /// share nothing, and `APIClient.problems` and their events report that. Components closer to the transport see the
    /// additions on the request and do not call this closure. An interceptor whose changes do not affect responses
    /// returns `.anonymous`, or is added with `changesPrincipal: false`.
    public var principal: @Sendable (HTTPRequest, ExchangeContext) -> Principal
    /// Loads the data that `principal` needs, such as tokens from a keychain, unless it is loaded already. Default nil:
    /// `principal` needs none.
    ///
    /// `.caching` and `.coalescing` call it before `principal`, never concurrently for one call. It must wait at most
    /// until the deadline of the context. If it cannot load the data, the principal stays unknown, and `intercept`
    /// throws the error.
    public var prepare: (@Sendable (ExchangeContext) async -> Void)?
    /// The declarations of the interceptor about the fields, query items, members and paths that it adds, such as the
    /// name of a field with a secret. They apply as those of `APIClient.Configuration.fields` do. Default none.
    public var fields = Redaction.Rules()
    /// Returns a sentence about an error in the configuration of the interceptor, in the client that the argument
    /// describes; nil if there is none. With an error, every call throws `.configuration`. Default nil: no check.
    public var problem: (@Sendable (Pipeline.Environment) -> String?)?
    /// Returns a warning about a configuration that works but is probably not intended; nil if there is none. A warning
    /// does not prevent calls. `APIClient.problems` lists it. Default nil: no check.
    package var warning: (@Sendable (Pipeline.Environment) -> String?)?

    /// The time limit that the interceptor sets for each attempt; nil if it sets none.
    package var attemptTimeout: Duration?
    /// The kind of interceptor that may occur only once in a pipeline; nil if the interceptor may be repeated.
    ///
    /// It has a plural name, such as `caches`, and the consequence of having more than one, as the end of a sentence.
    package var uniqueKind: (name: String, consequence: String)?
    /// The budget that the retries or second requests of the interceptor draw on (`Pipeline.retryBudget`). If the app
    /// has chosen it, all such interceptors of the pipeline draw on it.
    package var budget: (value: RetryBudget, isChosen: Bool)?
    /// The interceptor itself if it receives the events of the client's calls; otherwise nil.
    package var sink: (any EventSink)?
    /// Whether `intercept` would only pass on the request and the response, so that it need not run.
    package var onlyObserves = false
    /// Whether the interceptor also runs for the requests that refresh a token, as a log of calls does.
    package var runsInRefreshes = false

    /// Creates the description of an interceptor. The parameters are the properties of the same names.
    public init(
        placement: Placement = .custom, scope: Scope = .clientOrigin, runsInPreview: Bool = true,
        principal: @escaping @Sendable (HTTPRequest, ExchangeContext) -> Principal = { _, _ in .unknown }
    ) {
        self.placement = placement
        self.scope = scope
        self.runsInPreview = runsInPreview
        self.principal = principal
    }

    /// Creates the description of an interceptor of this package, which decides itself what each origin receives.
    package init(
        _ placement: Placement, runsInPreview: Bool = false,
        principal: @escaping @Sendable (HTTPRequest, ExchangeContext) -> Principal = { _, _ in .anonymous },
        problem: (@Sendable (Pipeline.Environment) -> String?)? = nil
    ) {
        self.init(placement: placement, scope: .unrestricted, runsInPreview: runsInPreview, principal: principal)
        self.problem = problem
    }

    /// The origin to which the additions of an interceptor may be sent. An http origin includes the https origin of the
    /// same host if both ports are the default ones.
    public enum Scope: Hashable, Sendable {
        /// The origin of the client's base URL; in a client without one, the origin of each call.
        case clientOrigin
        /// One specific origin.
        case origin(Origin)
        /// All origins: the interceptor adds nothing, or decides itself which origins receive it.
        case unrestricted
    }
}
