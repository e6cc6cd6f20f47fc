// SPDX-License-Identifier: MIT

extension Interceptor where Self == CacheInterceptor {
    /// Returns an HTTP cache: `.caching()` keeps responses in memory, `.caching(store: …)` in a custom store. See
    /// `CacheInterceptor`.
    public static func caching(
        store: any CacheStore = MemoryCacheStore(), rules: CacheRules = .standard
    ) -> CacheInterceptor {
        CacheInterceptor(store: store, rules: rules)
    }
}
