// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// A URL that a response has named, such as that of the next page or of an upload. If it leads to another origin, its
/// request is sent as one that follows a redirect: without credentials.
struct ServerChoice: Hashable, Sendable {
    let home: Origin?
    let fields: Set<HTTPField.Name>

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
    /// Notes that a response named the URL of the call.
    ///
    /// - `home`: the origin of the call whose response that was.
    /// - `fields`: the fields that the capability sends to every origin.
    package mutating func note(serverChoiceFrom home: Origin?, fields: Set<HTTPField.Name> = []) {
        self[ServerChoiceKey.self] = ServerChoice(home: home, fields: fields)
    }
}

enum ServerChoiceKey: RequestOptions.Key {
    static var defaultValue: ServerChoice? { nil }
}
