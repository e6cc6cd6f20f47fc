// SPDX-License-Identifier: MIT

struct User: Decodable, Hashable, Sendable {
    let id: Int
    let firstName, lastName: String
}

/// The requests of the old layer, a type for each.
struct GetUser: RequestDescription {
    let id: Int
    var path: String { "/users/\(id)" }
}

struct GetCurrentUser: RequestDescription {
    var path: String { "/auth/me" }
    var needsToken: Bool { true }
}

/// A caller as it was: it knows the old protocols only, and compiles unchanged over any service.
@MainActor
final class ProfileScreen {
    private(set) var text = ""
    private let service: any NetworkService
    private var task: (any NetworkTask)?

    init(service: any NetworkService) {
        self.service = service
    }

    /// Loads the current user, then user 2, one inside the other as it was done.
    func appear(whenDone: @escaping @MainActor () -> Void) {
        text = "…"
        task = service.perform(GetCurrentUser()) { [self] (result: Result<User, ServiceError>) in
            switch result {
            case .failure(let error): finish(with: error, whenDone)
            case .success(let me):
                task = service.perform(GetUser(id: 2)) { [self] (result: Result<User, ServiceError>) in
                    switch result {
                    case .failure(let error): finish(with: error, whenDone)
                    case .success(let other):
                        text = "\(me.firstName) and \(other.firstName)"
                        whenDone()
                    }
                }
            }
        }
    }

    func disappear() {
        task?.cancel()
    }

    private func finish(with error: ServiceError, _ whenDone: @MainActor () -> Void) {
        switch error {
        case .cancelled: text = ""
        case .unauthorized: text = "Please sign in"
        default: text = "Something went wrong"
        }
        whenDone()
    }
}
