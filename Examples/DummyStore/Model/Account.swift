// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI
import Observation

/// The screen of the account: signing in, signing out, and who is there. It knows a service, and not which.
@MainActor @Observable
final class Account {
    /// The signed-in user; failed with status 401 if there is none.
    let user: Loadable<User>
    /// Why the last attempt to sign in or out failed, in words for the person who tried.
    private(set) var problem: String?
    @ObservationIgnored private let service: any UserService

    init(_ service: any UserService) {
        self.service = service
        user = Loadable { try await service.currentUser() }
    }

    var greeting: String {
        user.value.map { "Hello, \($0.name)" } ?? "Please sign in"
    }

    /// Signs in, and loads who that is.
    func signIn(username: String, password: String) async {
        await change { service throws(NetworkError) in
            try await service.signIn(Credentials(username: username, password: password))
        }
    }

    func signOut() async {
        await change { service throws(NetworkError) in try await service.signOut() }
    }

    private func change(_ work: @Sendable (any UserService) async throws(NetworkError) -> Void) async {
        problem = nil
        do {
            try await work(service)
            // Nothing of one person is shown to the next.
            user.reset()
            await user.load()
        } catch {
            guard !error.isCancelled else { return }
            // The service knows better what is wrong with a password than its status can say.
            problem = error.body(as: ServiceError.self)?.message ?? error.message
        }
    }
}
