// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// An HTTP cache that follows RFC 9111: `.caching()` stores responses in memory, `.caching(store: …)` in a custom
    /// store.
    ///
    ///     let pipeline = Pipeline.standard.adding(.caching())                       // in memory
    ///     let store = HTTPCache.MemoryStore(byteLimit: 200 << 20)
    ///     let pipeline = Pipeline.standard.adding(.caching(store: store))           // in a store that you keep
    ///     try await store.remove(.prefix("https://api.example/films/"))
    ///
    /// `Cache-Control` and the related fields determine what the cache does; `HTTPCache.Policy` adjusts it for one
    /// call. Every response contains its source (`response.served`) and the reason for it (`response.cacheStatus`).
    /// Observers receive both in `HTTPCache.Event.decided`.
    ///
    /// - The cache is private: a response stored for one principal is used for that principal only. If the principal is
    ///   unknown (`Next.principal(of:)`), the cache stores nothing.
    /// - The principal includes every request field that is not known to be harmless, and the principals of the inner
    ///   interceptors and of the transport. A hook or an interceptor of the app inside the cache makes the principal
    ///   unknown, unless it declares otherwise (`changesPrincipal: false`, `InterceptorTraits.principal`).
    ///   `APIClient.problems` and `response.cacheStatus` name that interceptor.
    /// - Bodies are streamed at the caller's pace. A body is stored only if it is within the limits and the caller
    ///   reads it to its end.
    /// - A failure of the store does not fail a call: the cache sends the request to the server, and observers receive
    ///   `HTTPCache.Event.storeFailed`. The exception is a stored body that the store reads in parts (in
    ///   `SQLiteStore` above 1 MiB) and that becomes unreadable then: reading it throws `.storage`.
    /// - With `stale-while-revalidate`, a stale response is returned immediately and revalidated in the background. The
    ///   revalidation continues after the call has ended, for at most `HTTPCache.Options.backgroundTimeout`.
    ///
    /// - `store`: where responses are stored. Default: a new store in memory, which the client shares with the clients
    ///   derived from it.
    /// - `options`: which responses are stored, and how stored ones are used. Default `HTTPCache.Options.standard`.
    public static func caching(
        store: any HTTPCache.Store = HTTPCache.MemoryStore(), options: HTTPCache.Options = .standard
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(CacheInterceptor(store: store, rules: options))
    }

    /// Shares one exchange among identical safe requests that are in flight at the same time.
    ///
    ///     Pipeline.standard.adding(.coalescing())                      // for a client
    ///     .get("/report").options { $0.coalesces = false }             // not for this call
    ///
    /// A thousand identical calls send one request, and each call receives the same bytes. The interceptor is outside
    /// of the cache, so the response to a burst of cache misses is stored once.
    ///
    /// Which calls share an exchange:
    /// - A call can share an exchange only if its method is safe (RFC 9110 §9.2.1) and it has no body. A call that
    ///   streams (`options.streaming`), requests a protocol upgrade, or sets `options.coalesces = false` does not
    ///   share.
    /// - Calls share an exchange if they have the same method, URL, header fields (except the ignored ones), principal
    ///   (`Next.principal(of:)`), authentication options, limits, timeouts (except the total one), and every other
    ///   option that may change the response. `Range`, conditions and cookies are header fields. A call with an unknown
    ///   principal, or with an option of an extension that is not `Hashable`, does not share. Clients with different
    ///   interceptors never share, even if they have this interceptor in common.
    /// - A call joins an exchange only while the exchange has no response, so no call receives a response that arrived
    ///   before the call began. Once a request with an unsafe method has ended, new calls to its origin do not join
    ///   exchanges that began earlier, so they see the changes that the request made.
    ///
    /// What remains separate for each call:
    /// - Cancellation and deadline: a call that is cancelled or times out leaves the exchange, which continues for the
    ///   other calls. The exchange runs on a separate task, with the highest task priority of the waiting calls, and is
    ///   cancelled when the last call has left. It has no total deadline; connect, first-byte and idle timeouts are
    ///   counted from its start.
    /// - Priority: a call with a higher `options.priority` than the exchange does not join it. The call begins a new
    ///   exchange, which later calls join.
    /// - Events: a call that joins records `ExchangeEvent.joined` instead of the events of a request.
    ///
    /// If the exchange fails, all calls that wait for it throw its error.
    ///
    /// Only a response with a complete body is shared: transports return bodies of up to
    /// `TransportConfiguration.smallBody` (default 1 MiB) complete. A larger body is streamed to the call that has
    /// waited longest; each of the other calls sends a separate request.
    ///
    /// The inner interceptors run once, with the task-local values of the call that began the exchange. What they
    /// attach must depend only on the request, the client and the principal.
    ///
    /// - `fields`: request fields in which identical requests may differ, in addition to those that identify a request
    ///   or a trace. Default none. Their values must select neither a response nor a user. Has no effect on fields in
    ///   `HTTPField.Name.isSensitive` or `RedirectPolicy.keeping(secret:)`.
    public static func coalescing(ignoring fields: Set<HTTPField.Name> = []) -> BuiltInInterceptor {
        BuiltInInterceptor(CoalescingInterceptor(ignoring: fields))
    }
}
