// SPDX-License-Identifier: MIT

extension Interceptor where Self == CacheInterceptor {
    /// An HTTP cache: `.caching()` keeps responses in memory, `.caching(store: …)` in a store of your choice. See
    /// `CacheInterceptor`.
    public static func caching(
        store: any CacheStore = MemoryCacheStore(), rules: CacheRules = .standard
    ) -> CacheInterceptor {
        CacheInterceptor(store: store, rules: rules)
    }
}
