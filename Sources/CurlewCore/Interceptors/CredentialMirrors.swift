// SPDX-License-Identifier: MIT

// `dump` and debuggers look inside values; inside of these are passwords and keys.

extension APIKeyInterceptor: CustomReflectable {
    /// Shows the description only.
    public var customMirror: Mirror { Mirror(self, children: ["interceptor": description]) }
}

extension BasicInterceptor: CustomReflectable {
    /// Shows the description only.
    public var customMirror: Mirror { Mirror(self, children: ["interceptor": description]) }
}

extension DigestInterceptor: CustomReflectable {
    /// Shows the description only.
    public var customMirror: Mirror { Mirror(self, children: ["interceptor": description]) }
}
