// SPDX-License-Identifier: MIT

/// The requirements for every transport.
public enum ConformanceSuite {
    /// All cases, in the order of their groups.
    public static let cases: [ConformanceCase] = [
        RequestCases.all, RequestHeadCases.all, ResponseHeadCases.all, TrailerCases.all, ResponseBodyCases.all,
        FramingCases.all, InterruptionCases.all, TimeoutCases.all, ConnectionCases.all, PolicyCases.all,
        CodingCases.all, LimitCases.all, SecurityCases.all, HTTP2Cases.all, HTTP2FaultCases.all, AddressCases.all,
        CancellationCases.all, BackPressureCases.all, LoadCases.all, ShutdownCases.all,
    ].flatMap { $0 }

    /// Returns the cases of a group.
    public static func cases(of group: ConformanceCase.Group) -> [ConformanceCase] {
        cases.filter { $0.group == group }
    }
}
