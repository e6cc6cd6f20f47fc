// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension ExchangeContext: MirroredByDescription {
    /// The number and name of the call, the attempt and the hop, on one line: `call 7 (GetUser), attempt 1, hop 0`.
    public var description: String {
        "call \(id)\(routeName.isEmpty ? "" : " (\(routeName))"), attempt \(attempt), hop \(hop)".printable
    }
}
