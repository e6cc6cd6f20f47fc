// SPDX-License-Identifier: MIT

/// A test case that a transport is known to fail, with the reason.
///
/// A runner of the suite expects the case to fail, and reports a failure if it passes, so that outdated lists are
/// noticed.
public struct ConformanceDeviation: Hashable, Sendable {
    /// The expected outcome of the case.
    public enum Kind: String, Hashable, Sendable {
        /// The case fails.
        case fails
        /// The case fails with some versions of the system's library, or intermittently.
        case mayFail = "may fail"
        /// The case can end or block its process. It runs in a separate process, and the runner only records its
        /// outcome.
        case endsProcess = "can end the process"
    }

    /// The name of the transport, as in ``ConformanceEngine/name``.
    public let engine: String
    /// The name of the case, as in ``ConformanceCase/name``.
    public let caseName: String
    /// The expected outcome of the case.
    public let kind: Kind
    /// The reason for the deviation, and what the transport does instead.
    public let reason: String
}

extension ConformanceDeviation: CustomStringConvertible {
    /// The transport, the case, the expected outcome and the reason, on one line.
    public var description: String { "\(engine): \"\(caseName)\" \(kind.rawValue): \(reason)" }
}

extension ConformanceSuite {
    /// All known deviations, ordered by engine.
    public static let deviations = curl + urlSessionOnLinux + urlSessionOnApple

    /// Returns the known deviations of a transport, with the names of the cases as keys.
    public static func deviations(of engine: ConformanceEngine) -> [String: ConformanceDeviation] {
        let own = deviations.filter { $0.engine == engine.name }
        return Dictionary(own.map { ($0.caseName, $0) }) { first, _ in first }
    }

    /// Creates deviations that have the same reason, one for each of several cases.
    static func because(
        _ reason: String, _ kind: ConformanceDeviation.Kind = .fails, on engine: String, _ names: [String]
    ) -> [ConformanceDeviation] {
        names.map { ConformanceDeviation(engine: engine, caseName: $0, kind: kind, reason: reason) }
    }

    /// The deviations of libcurl. Each reason begins with the versions of libcurl that it concerns: one version, or the
    /// first and the last.
    private static let curl =
        because(
            "libcurl 8.1 to 8.12 does not end a connection of HTTP/2 whose frames are broken; the call ends in "
                + "`.timedOut(.firstByte)`, or another timeout.",
            .mayFail, on: "curl",
            [
                "a server that sends bytes that are no frames fails the call and no other, over HTTP/2",
                "a server that sends a frame that is too large fails the call and no other, over HTTP/2",
                "a server that sends data before the head fails the call and no other, over HTTP/2",
            ])
        + because(
            "libcurl 8.1 reports a stream that the server has refused as a broken connection; the call ends in "
                + "`.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["a GET whose stream was refused is sent again, over HTTP/2"])
        + because(
            "libcurl 8.1 to 8.4 may miss a response of HTTP/2 that comes before the end of an upload; the call ends in "
                + "`.timedOut(.idle)`.",
            .mayFail, on: "curl", ["a response before the end of an upload is given to the caller, over HTTP/2"])
        + because(
            "libcurl 8.16 with nghttp2 1.67 ends a connection of HTTP/2 on which much comes for streams that were "
                + "cancelled (nghttp2#2597); the other calls on it end in `.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["a cancelled stream leaves its connection to the others"])
        + because(
            "libcurl 7.88 drops a stream that the server resets with NO_ERROR while it uploads, and the response "
                + "that came before; the call ends in `.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["a response that stops an upload is given to the caller, over HTTP/2"])
}
