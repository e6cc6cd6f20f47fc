// SPDX-License-Identifier: MIT

/// The implementation of URLSession: Apple's, or the one of Foundation on Linux. Code that depends on the
/// implementation takes this value as a parameter, so that both cases can be tested on either platform.
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

    /// The name of the implementation in messages.
    var engine: String { self == .linux ? "URLSession on Linux" : "URLSession" }

    /// Returns `advice` as a sentence. On Linux, where `CurlTransport` is available, the sentence also suggests that
    /// transport and says why: "Percent-encode it, or use CurlTransport, which …".
    func hint(_ advice: String, orCurl reason: String) -> String {
        self == .linux ? "\(advice), or use CurlTransport, \(reason)." : "\(advice)."
    }
}
