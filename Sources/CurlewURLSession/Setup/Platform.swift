// SPDX-License-Identifier: MIT

/// Which URLSession there is. What depends on it takes one as a value, so that each can be tested on the other.
enum Platform: Sendable {
    case apple
    case linux

    static var current: Platform {
        #if canImport(Darwin)
        .apple
        #else
        .linux
        #endif
    }

    /// What texts call it.
    var engine: String { self == .linux ? "URLSession on Linux" : "URLSession" }

    /// A hint; where there is `CurlTransport`, with that way out: "Percent-encode it, or use CurlTransport, which …".
    func hint(_ advice: String, orCurl reason: String) -> String {
        self == .linux ? "\(advice), or use CurlTransport, \(reason)." : "\(advice)."
    }
}
