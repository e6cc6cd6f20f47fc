// SPDX-License-Identifier: MIT

import CurlewTesting

/// A part of a list, asked for with `limit` and `skip`.
struct Page {
    let limit: Int
    let skip: Int

    /// Throws a refusal for anything but whole numbers. `limit=0` means all, as it does in the services that have it.
    init(_ request: RecordedRequest, standard: Int = 30) throws(Refusal) {
        let limit = try request.number("limit", from: 0...1000, orElse: standard)
        self.limit = limit == 0 ? 1000 : limit
        skip = try request.number("skip", from: 0...1_000_000, orElse: 0)
    }

    func of<Element>(_ list: [Element]) -> [Element] {
        Array(list.dropFirst(skip).prefix(limit))
    }
}
