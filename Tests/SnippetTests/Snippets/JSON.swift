// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation

// The fast decoder by itself, without a client.

enum JSONPage {
    struct Account: Decodable {
        let id: Int
        let createdAt: Date
    }

    static func decode(_ data: Data) throws -> [Account] {
        let decoder = FastJSONDecoder(keys: .convertFromSnakeCase, dates: .iso8601)
        let accounts = try decoder.decode([Account].self, from: data)

        return accounts
    }
}
