// SPDX-License-Identifier: MIT

extension ExchangeContext: CustomStringConvertible, CustomReflectable {
    /// `call 7 (GetUser), attempt 1, hop 0`.
    public var description: String {
        "call \(id)\(routeName.isEmpty ? "" : " (\(routeName))"), attempt \(attempt), hop \(hop)".printable
    }

    /// Shows the description only, to debuggers and `dump` too: what travels beside a request may hold cookies.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
