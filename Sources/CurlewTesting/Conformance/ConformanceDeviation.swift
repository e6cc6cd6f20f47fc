// SPDX-License-Identifier: MIT

/// A case that an engine is known not to pass, and why that is so.
///
/// Whoever runs the suite expects such a case to fail, and fails when it passes: a list that is out of date shows.
public struct ConformanceDeviation: Hashable, Sendable {
    /// What becomes of the case.
    public enum Kind: String, Hashable, Sendable {
        /// It fails.
        case fails
        /// It fails with some versions of the system's library, or at some moments.
        case mayFail = "may fail"
        /// It can end or block the whole process: it is run in one of its own, and what happened is recorded.
        case endsProcess = "can end the process"
    }

    /// The name of the engine.
    public let engine: String
    /// The name of the case.
    public let caseName: String
    /// What becomes of it.
    public let kind: Kind
    /// Why, and what the engine does instead.
    public let reason: String
}

extension ConformanceDeviation: CustomStringConvertible {
    /// Engine, case and reason on one line.
    public var description: String { "\(engine): \"\(caseName)\" \(kind.rawValue): \(reason)" }
}

extension ConformanceSuite {
    /// Everything that is known not to be as it should, engine by engine.
    public static let deviations = curl + urlSessionOnLinux + urlSessionOnApple

    /// What is known of one engine, by the name of the case.
    public static func deviations(of engine: ConformanceEngine) -> [String: ConformanceDeviation] {
        let own = deviations.filter { $0.engine == engine.name }
        return Dictionary(own.map { ($0.caseName, $0) }) { first, _ in first }
    }

    /// One reason for several cases.
    static func because(
        _ reason: String, _ kind: ConformanceDeviation.Kind = .fails, on engine: String, _ names: [String]
    ) -> [ConformanceDeviation] {
        names.map { ConformanceDeviation(engine: engine, caseName: $0, kind: kind, reason: reason) }
    }

    /// The reasons begin with the version of libcurl that they are about, or the first and the last one.
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
            "libcurl 8.1 does not tell a stream that the server has refused from a connection that broke; the call ends in "
                + "`.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["a GET whose stream was refused is sent again, over HTTP/2"])
        + because(
            "libcurl 8.1 to 8.4 may miss an answer of HTTP/2 that comes before the end of an upload; the call ends in "
                + "`.timedOut(.idle)`.",
            .mayFail, on: "curl", ["an answer before the end of an upload is given to the caller, over HTTP/2"])
        + because(
            "libcurl 8.16 with nghttp2 1.67 ends a connection of HTTP/2 on which much comes for streams that were "
                + "cancelled (nghttp2#2597); the other calls on it end in `.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["a cancelled stream leaves its connection to the others"])
        + because(
            "libcurl 7.88 gives up a stream that the server resets with NO_ERROR while it uploads, and drops the answer "
                + "that came before; the call ends in `.connectionLost(.requestMayHaveArrived)`.",
            .mayFail, on: "curl", ["an answer that stops an upload is given to the caller, over HTTP/2"])
}
