// SPDX-License-Identifier: MIT

extension ExchangeContext: CustomStringConvertible, CustomReflectable {
    /// The number and name of the call, the attempt and the hop, on one line: `call 7 (GetUser), attempt 1, hop 0`.
    public var description: String {
        "call \(id)\(routeName.isEmpty ? "" : " (\(routeName))"), attempt \(attempt), hop \(hop)".printable
    }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
