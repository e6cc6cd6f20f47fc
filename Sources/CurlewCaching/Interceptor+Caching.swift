// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// An HTTP cache that follows RFC 9111: `.caching()` keeps responses in memory, `.caching(store: …)` in a custom
    /// store.
    ///
    ///     let pipeline = Pipeline.standard.adding(.caching())                       // in memory
    ///     let store = MemoryCacheStore(byteLimit: 200 << 20)
    ///     let pipeline = Pipeline.standard.adding(.caching(store: store))           // in a store that you keep
    ///     try await store.remove(.prefix("https://api.example/films/"))
    ///
    /// `Cache-Control` and the related fields determine what the cache does; `CachePolicy` adjusts it for one call.
    /// Every response reports where it was served from (`response.served`) and why (`response.cacheStatus`). Observers
    /// are notified of both.
    ///
    /// - The cache is private by default: a response stored for one principal is used for that principal only. Where
    ///   the principal is unknown (`Next.principal(of:)`) nothing is stored, or only public responses
    ///   (`CacheConfiguration.sharesPublic`). Each request field that is not known to be harmless is a part of the
    ///   principal. The inner interceptors and the transport count as well: an app's hook or interceptor among them
    ///   keeps the cache from storing anything, unless it declares otherwise (`changesPrincipal: false`,
    ///   `Interceptor.principal(of:in:)`). `APIClient.problems` and the verdicts name it.
    /// - Bodies are streamed to the caller at the caller's pace. A body is stored only if the caller reads it to its
    ///   end and it is within the limits. If the caller stops reading, nothing is stored.
    /// - A failure of the store does not fail a call: the server is asked, and observers receive
    ///   `CacheEvent.storeFailed`. The exception is a body over 64 KiB whose stored bytes become unreadable after some
    ///   have been delivered: reading it throws `.storage`.
    /// - A stale response that is refreshed in the background (`stale-while-revalidate`) is returned without waiting
    ///   for the refresh. The refresh continues after the call has ended, for at most
    ///   `CacheConfiguration.backgroundTimeout`.
    ///
    /// - `store`: where responses are stored. Default a new in-memory store that the client shares with the clients
    ///   derived from it.
    /// - `rules`: what is stored, and how stored responses are used. Default `CacheConfiguration.standard`.
    public static func caching(
        store: any CacheStore = MemoryCacheStore(), rules: CacheConfiguration = .standard
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(CacheInterceptor(store: store, rules: rules))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Shares one exchange among identical safe requests that are in flight at the same time.
    ///
    ///     Pipeline.standard.adding(.coalescing())                      // for a client
    ///     .get("/report").options { $0.coalesces = false }             // not for this call
    ///
    /// A thousand identical calls send one request, and each receives the same bytes. The interceptor is outside of the
    /// cache, so the response to a burst of misses is stored once.
    ///
    /// Which calls share an exchange:
    /// - Calls with safe methods (RFC 9110 §9.2.1) and no body, unless the call streams (`options.streaming`), requests
    ///   a protocol upgrade, or sets `options.coalesces = false`.
    /// - Calls that agree in method, URL, all header fields except the ignored ones, the principal
    ///   (`Next.principal(of:)`; calls with an unknown principal do not share), the choice of the credential, limits
    ///   and timeouts (except the total one), and every other option that may change the response. `Range`, conditions
    ///   and cookies are header fields. An option of an extension must be `Hashable`; otherwise its calls do not share.
    ///   Clients with different interceptors never share, even if they have this interceptor in common.
    /// - A call joins only while there is no response: no call receives a response that arrived before the call began.
    ///   Once a request with an unsafe method has ended, new calls to its origin do not join exchanges that began
    ///   before, so they see its changes.
    ///
    /// What remains separate for each call:
    /// - Cancellation and deadline: the call leaves, and the others are not affected. The exchange runs on a separate
    ///   task, with the highest task priority of the waiting calls, and is cancelled when the last call has left. It
    ///   has no total deadline; connect, first-byte and idle timeouts are counted from its beginning.
    /// - Priority: a call with a higher `options.priority` than the exchange does not wait for it, but begins a new
    ///   exchange that later calls join.
    /// - Events: the call records `ExchangeEvent.joined` instead of the events of a request.
    ///
    /// An error of the exchange is thrown to all its calls.
    ///
    /// Responses that arrive whole are shared: transports collect bodies up to 1 MiB before they return them. A body
    /// that is still arriving has one reader, a call that joined early; each of the other calls sends a separate
    /// request.
    ///
    /// Interceptors further in run once, with the task-local values of the call that began the exchange. What they add
    /// must depend only on the request, the client and the principal.
    ///
    /// - `fields`: fields that do not distinguish requests, besides those that identify a request or a trace. Default
    ///   none. Their values must select neither a response nor a user. Has no effect on fields in
    ///   `HTTPField.Name.isSensitive` or `RedirectPolicy.secretHeaders`.
    public static func coalescing(ignoring fields: Set<HTTPField.Name> = []) -> BuiltInInterceptor {
        BuiltInInterceptor(CoalescingInterceptor(ignoring: fields))
    }
}
