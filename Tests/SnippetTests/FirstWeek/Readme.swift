// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

struct GetUser: Endpoint {
    typealias Response = User
    var id: Int
    var path: RequestPath { "/users/\(id)" }  // `..` is refused
}

enum Readme {
    static func test() async throws -> String {
        let client = APIClient.mock {
            $0.on(GetUser.self) { User(id: $0.id, firstName: "Emily") }
        }

        return try await client.send(GetUser(id: 1)).firstName
    }
}

extension Screen {
    func readme(_ client: APIClient) async {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            show(try await client.send(.user(id: 1)))
        } catch where error.isCancelled {
        } catch where error.isNotFound {
            showNobody()
        } catch {
            show(error.message)  // no URL, no type name
            log(error.description)  // what, where, why, and what to do next
        }
    }
}
