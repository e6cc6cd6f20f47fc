// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The page that a request selects from a list with `limit` and `skip`.
struct Page {
    let limit: Int
    let skip: Int

    /// Reads the query of a request. Throws a refusal if a value is not a whole number or exceeds its maximum: 1,000
    /// for `limit`, 1,000,000 for `skip`. `limit=0` means all items, up to 1,000, as in other services of this style.
    init(_ request: RecordedRequest, standard: Int = 30) throws(Refusal) {
        let limit = try request.number("limit", from: 0...1000, orElse: standard)
        self.limit = limit == 0 ? 1000 : limit
        skip = try request.number("skip", from: 0...1_000_000, orElse: 0)
    }

    func of<Element>(_ list: [Element]) -> [Element] {
        Array(list.dropFirst(skip).prefix(limit))
    }
}
