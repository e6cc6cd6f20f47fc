// SPDX-License-Identifier: MIT

import Curlew

/// "This call goes with the token": what a call asks for, and an action before it reads. Never on the wire.
enum NeedsToken: RequestOptions.Key {
    static let defaultValue = false
}

/// Who is signed in.
actor Session {
    private(set) var token: String?

    init() {}

    func signIn(_ token: String) {
        self.token = token
    }
}

/// What happened, in its order.
actor Journal {
    private(set) var entries: [String] = []

    init() {}

    func add(_ entry: String) {
        entries.append(entry)
    }
}

extension APIClient {
    /// The old layer's actions before a request and after a response. They are hooks here, and run in the order in
    /// which they are added.
    ///
    /// Later `.bearer(tokens)` replaces the token's action: it knows origins, refreshes tokens, and runs after
    /// redirects. Until then the hook says itself where the token may go.
    func withActions(_ session: Session, _ journal: Journal) -> APIClient {
        adding(.onRequest { _, context in await journal.add("begin \(context.routeName)") })
            .adding(
                .onRequest { request, context in
                    guard context.options[NeedsToken.self], request.origin == context.clientOrigin,
                        let token = await session.token
                    else { return }
                    request.headers[.authorization] = "Bearer \(token)"
                    await journal.add("token")
                }
            )
            .adding(.onResponse { response, _ in await journal.add("status \(response.status.code)") })
            .adding(.onError { error, _ in await journal.add("failed \(error.label)") })
    }
}
