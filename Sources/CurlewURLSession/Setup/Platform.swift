// SPDX-License-Identifier: MIT

/// The implementation of URLSession. Code that depends on it takes a value, so that both can be tested on either
/// platform.
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

    /// The name in messages.
    var engine: String { self == .linux ? "URLSession on Linux" : "URLSession" }

    /// Returns a hint that, if `CurlTransport` is available, suggests it: "Percent-encode it, or use CurlTransport,
    /// which …".
    func hint(_ advice: String, orCurl reason: String) -> String {
        self == .linux ? "\(advice), or use CurlTransport, \(reason)." : "\(advice)."
    }
}
