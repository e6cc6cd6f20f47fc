// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The share of a memory store that each origin uses, so that one origin cannot displace all others.
///
/// An origin that exceeds its share loses the entries that were stored first. The order is the order of storing, not of
/// use, so that a use requires no bookkeeping here.
struct OriginShares: Sendable {
    private struct Share {
        var bytes: Int64 = 0
        var count = 0
        var first = none
        var last = none
    }

    /// The origin of a slot, and the slots that this origin filled before and after it.
    private struct Slot {
        var origin: Substring = ""
        var earlier = none
        var later = none
    }

    private static let none = -1

    private let mostBytes: Int64
    private let mostEntries: Int
    private var shares: [Substring: Share] = [:]
    private var slots: [Slot] = []

    /// - `part`: the fraction of both limits that an origin may use, from 0 to 1.
    init(_ part: Double, ofBytes bytes: Int64, entries: Int) {
        let part = part.isFinite ? min(max(0, part), 1) : 1
        mostBytes = Int64(exactly: (Double(bytes) * part).rounded(.down)) ?? bytes
        mostEntries = Int(exactly: (Double(entries) * part).rounded(.down)) ?? entries
    }

    /// Returns the slot to evict after an entry of this URL has been stored. Returns nil if the origin of the URL does
    /// not exceed its share, or if `oldest`, the slot that would otherwise be evicted, belongs to the same origin.
    func victim(for target: String, insteadOf oldest: Int) -> Int? {
        let origin = Self.origin(of: target)
        guard let share = shares[origin], share.bytes > mostBytes || share.count > mostEntries,
            slots.indices.contains(oldest), slots[oldest].origin != origin
        else { return nil }
        return share.first
    }

    mutating func join(_ slot: Int, _ target: String, _ bytes: Int64) {
        while slots.count <= slot { slots.append(Slot()) }
        let origin = Self.origin(of: target)
        var share = shares[origin] ?? Share()
        share.bytes += bytes
        share.count += 1
        slots[slot] = Slot(origin: origin, earlier: share.last)
        if share.last == Self.none { share.first = slot } else { slots[share.last].later = slot }
        share.last = slot
        shares[origin] = share
    }

    mutating func grow(_ slot: Int, by bytes: Int64) {
        shares[slots[slot].origin]?.bytes += bytes
    }

    mutating func leave(_ slot: Int, _ bytes: Int64) {
        let entry = slots[slot]
        guard var share = shares[entry.origin] else { return }
        share.bytes -= bytes
        share.count -= 1
        if entry.earlier == Self.none { share.first = entry.later } else { slots[entry.earlier].later = entry.later }
        if entry.later == Self.none { share.last = entry.earlier } else { slots[entry.later].earlier = entry.earlier }
        shares[entry.origin] = share.count == 0 ? nil : share
        slots[slot] = Slot()
    }

    /// Returns the origin of a URL: `https://api.example` for `https://api.example/films`.
    private static func origin(of target: String) -> Substring {
        let bytes = target.utf8
        guard let start = bytes.firstRange(of: "://".utf8)?.upperBound else { return target[...] }
        return target[..<(bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex)]
    }
}
