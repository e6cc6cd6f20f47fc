// SPDX-License-Identifier: MIT

import CurlewFoundation

/// The faults that a mock server injects into one response, such as delays, interruptions and wrong framing.
struct Faults: Sendable {
    var headDelay: Duration?
    var bodyDelay: Duration?
    var cut: Cut?
    var pace: Pace?
    var framing: MockResponse.Framing?
    var raw: Data?
    var closesSilently = false
    var isEarly = false

    struct Cut: Sendable {
        let stage: MockResponse.Stage
        let interruption: MockResponse.Interruption
    }

    struct Pace: Sendable {
        let bytes: Int
        let pause: Duration
        let includesHead: Bool
    }

    /// The number of content bytes to send before the interruption; `nil` if no interruption is set at a number of
    /// bytes.
    var contentLimit: Int? {
        if case .afterBytes(let count) = cut?.stage { return max(0, count) }
        return nil
    }

    var descriptions: [String] {
        var all: [String] = []
        if isEarly { all.append("early") }
        if let headDelay { all.append("head delayed by \(headDelay)") }
        if let bodyDelay { all.append("body delayed by \(bodyDelay)") }
        if let pace { all.append("\(pace.bytes) bytes every \(pace.pause)") }
        if let framing { all.append("framed as \(framing)") }
        if let cut { all.append("\(cut.interruption) at \(cut.stage)") }
        if raw != nil { all.append("raw bytes") }
        if closesSilently { all.append("closing silently") }
        return all
    }
}
