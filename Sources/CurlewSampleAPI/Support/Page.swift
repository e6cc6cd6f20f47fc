// SPDX-License-Identifier: MIT

import CurlewTesting

/// A page of a list, requested with `limit` and `skip`.
struct Page {
    let limit: Int
    let skip: Int

    /// Throws a refusal for values that are not whole numbers. `limit=0` means all, as in the services with that style.
    init(_ request: RecordedRequest, standard: Int = 30) throws(Refusal) {
        let limit = try request.number("limit", from: 0...1000, orElse: standard)
        self.limit = limit == 0 ? 1000 : limit
        skip = try request.number("skip", from: 0...1_000_000, orElse: 0)
    }

    func of<Element>(_ list: [Element]) -> [Element] {
        Array(list.dropFirst(skip).prefix(limit))
    }
}
