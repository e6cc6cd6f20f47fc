// SPDX-License-Identifier: MIT

package import CurlewCore

// Both keep the default scope, `.own`: the cache attaches only validators and `Cache-Control` directives, which are
// harmless, and coalescing attaches nothing.
extension CacheInterceptor: ScopedInterceptor {}
extension CoalescingInterceptor: ScopedInterceptor {}

extension CacheInterceptor: SoleInterceptor {
    package var uniqueKind: UniqueKind {
        UniqueKind("caches", "the outer cache stores what the inner cache has stored")
    }
}

extension CoalescingInterceptor: SoleInterceptor {
    package var uniqueKind: UniqueKind { UniqueKind("coalescings", "the inner one never sees two equal calls") }
}
