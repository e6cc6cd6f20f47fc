// SPDX-License-Identifier: MIT

/// The test cases that all transports must pass, except for their known deviations.
public enum ConformanceSuite {
    /// All cases, ordered by topic.
    public static let cases: [ConformanceCase] = [
        RequestCases.all, RequestHeadCases.all, ResponseHeadCases.all, TrailerCases.all, ResponseBodyCases.all,
        FramingCases.all, InterruptionCases.all, TimeoutCases.all, DurationCases.all, ConnectionCases.all,
        PolicyCases.all, CodingCases.all, LimitCases.all, SecurityCases.all, HTTP2Cases.all, HTTP2FaultCases.all,
        AddressCases.all, CancellationCases.all, BackPressureCases.all, EventStreamCases.all, WebSocketCases.all,
        LoadCases.all, ShutdownCases.all,
    ].flatMap { $0 }

    /// Returns the cases that belong to a group.
    public static func cases(of group: ConformanceCase.Group) -> [ConformanceCase] {
        cases.filter { $0.group == group }
    }
}
