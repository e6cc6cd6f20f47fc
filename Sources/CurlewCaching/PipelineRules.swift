// SPDX-License-Identifier: MIT

package import CurlewCore

// These attach nothing, or only harmless fields.
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
