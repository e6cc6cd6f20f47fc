// SPDX-License-Identifier: MIT

/// The types of the HTTP cache that `.caching()` adds to a pipeline (RFC 9111).
///
/// - `HTTPCache.Options`: which responses are stored, and how they are used; `HTTPCache.Policy` is the choice of one
///   call.
/// - `HTTPCache.Status`: where a response came from, and why.
/// - `HTTPCache.Store`: where entries are kept; `HTTPCache.MemoryStore` keeps them in memory.
public enum HTTPCache {}
