// SPDX-License-Identifier: MIT

extension ExchangeContext: CustomStringConvertible, CustomReflectable {
    /// One line: `call 7 (GetUser), attempt 1, hop 0`.
    public var description: String {
        "call \(id)\(routeName.isEmpty ? "" : " (\(routeName))"), attempt \(attempt), hop \(hop)".printable
    }

    /// Shows the description only, because the context may hold cookies. Debuggers and `dump` use it.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
