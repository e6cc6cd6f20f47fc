// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Tracks how much of a memory store each origin uses, so that one origin cannot displace all others.
///
/// An origin that exceeds its share loses the entries that it stored first. The order is that of storing rather than of
/// use, so that a use requires no bookkeeping here.
struct OriginShares: Sendable {
    private struct Share {
        var bytes: Int64 = 0
        var count = 0
        var first = none
        var last = none
    }

    /// The origin of a slot, and the slots that the origin filled before and after it.
    private struct Place {
        var origin: Substring = ""
        var earlier = none
        var later = none
    }

    private static let none = -1

    private let mostBytes: Int64
    private let mostEntries: Int
    private var shares: [Substring: Share] = [:]
    private var places: [Place] = []

    /// - `part`: the fraction of both limits, from 0 to 1.
    init(_ part: Double, ofBytes bytes: Int64, entries: Int) {
        let part = part.isFinite ? min(max(0, part), 1) : 1
        mostBytes = Int64(exactly: (Double(bytes) * part).rounded(.down)) ?? bytes
        mostEntries = Int(exactly: (Double(entries) * part).rounded(.down)) ?? entries
    }

    /// Returns the slot to evict for an entry of this URL, if its origin exceeds its share and `oldest`, the slot that
    /// would otherwise be evicted, belongs to another origin.
    func victim(for target: String, insteadOf oldest: Int) -> Int? {
        let origin = Self.origin(of: target)
        guard let share = shares[origin], share.bytes > mostBytes || share.count > mostEntries,
            places.indices.contains(oldest), places[oldest].origin != origin
        else { return nil }
        return share.first
    }

    mutating func join(_ slot: Int, _ target: String, _ bytes: Int64) {
        while places.count <= slot { places.append(Place()) }
        let origin = Self.origin(of: target)
        var share = shares[origin] ?? Share()
        share.bytes += bytes
        share.count += 1
        places[slot] = Place(origin: origin, earlier: share.last)
        if share.last == Self.none { share.first = slot } else { places[share.last].later = slot }
        share.last = slot
        shares[origin] = share
    }

    mutating func grow(_ slot: Int, by bytes: Int64) {
        shares[places[slot].origin]?.bytes += bytes
    }

    mutating func leave(_ slot: Int, _ bytes: Int64) {
        let place = places[slot]
        guard var share = shares[place.origin] else { return }
        share.bytes -= bytes
        share.count -= 1
        if place.earlier == Self.none { share.first = place.later } else { places[place.earlier].later = place.later }
        if place.later == Self.none { share.last = place.earlier } else { places[place.later].earlier = place.earlier }
        shares[place.origin] = share.count == 0 ? nil : share
        places[slot] = Place()
    }

    /// Returns `https://api.example` for `https://api.example/films`.
    private static func origin(of target: String) -> Substring {
        let bytes = target.utf8
        guard let start = bytes.firstRange(of: "://".utf8)?.upperBound else { return target[...] }
        return target[..<(bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex)]
    }
}
