// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

extension Screen {
    func inAFunction(_ client: APIClient) async {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            show(try await client.send(.user(id: 1)))
        } catch where error.isCancelled {
        } catch where error.isNotFound {
            showNobody()
        } catch {
            show(error.message)
        }
    }

    func inATask(_ client: APIClient) -> Task<Void, Never> {
        Task {
            do throws(NetworkError) {
                show(try await client.send(.user(id: 1)))
            } catch {
                show(error.message)
            }
        }
    }

    func ofSeveral(_ client: APIClient) async {
        do {
            async let user = client.send(.user(id: 1))
            async let orders = client.send(.orders)
            show(try await user, try await orders)
        } catch {
            show(NetworkError(error).message)
        }
    }

    func byReason(_ client: APIClient) async {
        do {
            show(try await client.send(.user(id: 1)))
        } catch {
            switch error.reason {
            case .status(.notFound): showNobody()
            case .timedOut, .unreachable: showLater()
            default: show(error.message)
            }
        }
    }

    func inAView(_ client: APIClient) async {
        do {
            if let user = try await client.sendUnlessCancelled(.user(id: 1)) { show(user) }
        } catch {
            show(error.message)
        }
    }
}

nonisolated struct ServiceError: Decodable {
    let message: String
    let code: String?
}

extension Screen {
    func serversOwnError(_ client: APIClient) async {
        do {
            show(try await client.send(.create(NewUser(firstName: ""))))
        } catch {
            show(error.body(as: ServiceError.self)?.message ?? error.message)
        }
    }
}

@MainActor
final class ScreenModel {
    private(set) var error: NetworkError?

    func load(_ client: APIClient) async {
        do { _ = try await client.send(.user(id: 1)) } catch { self.error = error }
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct ErrorsPage {
    @Test func comparing() async {
        let model = ScreenModel()
        await model.load(.mock { $0.onAny { _ in .status(.serviceUnavailable) } })
        #expect(model.error == NetworkError(statusCode: 503))

        let client = APIClient.mock { $0.fail(with: NetworkError(.unreachable)) }
        await #expect(throws: NetworkError(.unreachable)) { try await client.send(.user(id: 1)) }
    }
}
