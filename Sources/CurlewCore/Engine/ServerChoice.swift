// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// A URL that a response has named, such as that of the next page or of an upload. If it leads to another origin, its
/// request is sent as one that follows a redirect: without credentials.
package struct ServerChoice: Hashable, Sendable {
    private let home: Origin?
    private let fields: Set<HTTPField.Name>

    /// Creates the description of a URL that a response has named.
    ///
    /// - `home`: the origin of the call whose response named the URL.
    /// - `fields`: the fields that the capability sends to every origin.
    package init(from home: Origin?, fields: Set<HTTPField.Name> = []) {
        self.home = home
        self.fields = fields
    }

    func apply(to request: inout HTTPRequest, in context: inout ExchangeContext) {
        guard home != request.origin else { return }
        if let home { context.pastOrigins.append(home) }
        context.leaveOrigin(forwarding: fields)
        for field in request.headers where !context.forwardedFields.allow(field.name) {
            request.headers.remove(field.name)
        }
    }
}

extension RequestOptions {
    /// The server's choice of the URL; nil if the app chose it. Default nil.
    package var serverChoice: ServerChoice? {
        get { self[ServerChoiceKey.self] }
        set { self[ServerChoiceKey.self] = newValue }
    }
}

private enum ServerChoiceKey: RequestOptions.Key {
    static var defaultValue: ServerChoice? { nil }
}
