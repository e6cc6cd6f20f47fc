// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension HTTPCache {
    /// The options of a cache: its rules and limits. The defaults suit a private cache, such as that of a browser.
    public struct Options: Sendable {
        /// The names of query items that do not affect the response, such as `fbclid`, or prefixes of names followed by
        /// `*`, such as `utm_*`. Names are compared byte by byte as they appear in the URL. Default none. The request
        /// is sent with these items, but responses are stored, found and removed without them, so the URL of a
        /// `HTTPCache.Removal.target` must omit them.
        public var ignoredQueryItems: [String] = []
        /// The maximum staleness, in whole seconds, of a response that is used when the server fails or is unreachable
        /// (RFC 5861 §4). If the response or the request has a longer `stale-if-error`, that applies instead. Default
        /// zero. It never overrides `must-revalidate` and `no-cache`.
        public var staleIfError: Duration = .zero
        /// The maximum number of bytes of a stored body; the store may have a lower limit. Default 8 MiB.
        public var bodyLimit: Int64 = 8 << 20
        /// The time limit of one background revalidation. The call's total timeout applies if it is shorter. Default
        /// one minute.
        public var backgroundTimeout: Duration = .seconds(60)
        /// The timeout for one operation of the store, such as a lookup or the writing of a chunk, within the call's
        /// deadline. After it the call continues without the store. After a lookup that took too long, the request is
        /// sent to the server and its response is not stored. A `HTTPCache.MemoryStore` has no time limit. Default one
        /// second.
        public var lookupTimeout: Duration = .seconds(1)
        /// The time that a call waits for the store to commit, update or remove an entry. A slower store finishes in
        /// the background. Because of this wait, a program that ends after its last call finds the response of that
        /// call in its next run. Default 50 ms.
        public var commitTimeout: Duration = .milliseconds(50)

        /// The maximum number of concurrent background revalidations (`stale-while-revalidate`). Once it is reached,
        /// stale responses are returned without a revalidation.
        var backgroundLimit = 8

        /// Options with the default values.
        public static let standard = HTTPCache.Options()

        /// Creates options with the default values.
        public init() {}

        /// Whether a response with this status may be stored without explicit directives from the server, and then has
        /// a heuristic lifetime (RFC 9110 §15.1).
        static func isHeuristicallyCacheable(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
            default: false
            }
        }

        /// Whether the cache implements the caching rules of this final status, as `must-understand` requires (RFC 9111
        /// §5.2.2.3).
        static func isUnderstood(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 302, 303, 307, 400, 403, 500, 502, 503, 504: true
            default: isHeuristicallyCacheable(status)
            }
        }

        /// Whether a response with this status depends on preconditions, ranges or the route to the server. None of
        /// them is a part of the cache key.
        static func dependsOnMore(_ status: HTTPStatus) -> Bool {
            switch status.code {
            case 304, 407, 412, 416, 417, 511: true
            default: false
            }
        }
    }
}

extension HTTPCache.Options {
    /// Returns the URL under which a response is stored: `url` without the ignored query items.
    func target(of url: String) -> String {
        guard !ignoredQueryItems.isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let items = Substring(url.utf8[mark...].dropFirst()).parts("&", keepingEmpty: true)
        let kept = items.filter { !isIgnored($0.upTo("=")) }
        if kept.count == items.count { return url }
        let query = kept.joined(separator: "&")
        return String(url[..<mark]) + (kept.isEmpty ? "" : "?" + query)
    }

    private func isIgnored(_ name: Substring) -> Bool {
        ignoredQueryItems.contains { pattern in
            pattern.ends(with: "*")
                ? name.begins(with: String(Substring(pattern.utf8.dropLast()))) : name.utf8.elementsEqual(pattern.utf8)
        }
    }
}
