// SPDX-License-Identifier: MIT

import Curlew

/// The next step: calls that say what they give. A completion is still what their callers want.
struct LogIn: Endpoint {
    typealias Response = Tokens
    let username, password: String

    var method: HTTPMethod { .post }
    var path: RequestPath { "/auth/login" }
    var content: RequestContent { .json(["username": username, "password": password]) }
}

extension Request {
    static func user(_ id: Int) -> Request<User> { .get("/users/\(id)") }

    static var currentUser: Request<User> {
        Request<User>.get("/auth/me").options { $0[NeedsToken.self] = true }
    }
}

/// A caller that works on a queue of its own, such as one that writes what it gets into a database.
struct Archive: Sendable {
    private let client: APIClient
    private let executor: APIClient.CompletionExecutor

    /// - `executor`: where completions run. `.queue(queue)` for a dispatch queue; anything else that runs closures by
    ///   `CompletionExecutor { work in … }`.
    init(client: APIClient, executor: APIClient.CompletionExecutor) {
        self.client = client
        self.executor = executor
    }

    /// Calls `done` on the executor, once.
    @discardableResult
    func fetchNames(
        of user: Int, done: @escaping @Sendable (Result<String, NetworkError>) -> Void
    ) -> APIClient.RequestHandle {
        client.send(.user(user), deliverOn: executor) { result in
            done(result.map { "\($0.firstName) \($0.lastName)" })
        }
    }
}

/// The last step, for one caller after the other: `ProfileScreen` with async and await. Two levels of closures are two
/// lines, a screen that closes cancels its task, and no caller has to remember to call `whenDone`.
@MainActor
final class ModernProfileScreen {
    private(set) var text = ""
    private let client: APIClient

    init(client: APIClient) {
        self.client = client
    }

    func load() async {
        text = "…"
        do {
            let me = try await client.send(.currentUser)
            let other = try await client.send(.user(2))
            text = "\(me.firstName) and \(other.firstName)"
        } catch {
            text = error.isCancelled ? "" : error.isUnauthorized ? "Please sign in" : "Something went wrong"
        }
    }
}
