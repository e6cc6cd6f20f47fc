// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The entries of a memory store, their indexes, and the order in which they were used.
///
/// The order of use is a linked list through the slots of one array, so that a use moves an entry without allocating.
struct MemoryCacheTable: Sendable {
    /// A class, so that following the slots of a key copies no heads.
    private final class Entry: Sendable {
        let response: HTTPCache.Entry
        let body: Data
        let cost: Int64

        init(_ response: HTTPCache.Entry, _ body: Data) {
            self.response = response
            self.body = body
            cost = MemoryCacheTable.cost(response)
        }
    }

    /// The neighbours of a slot in the order of use.
    private struct Links {
        var older = none
        var newer = none
    }

    private static let none = -1

    let byteLimit: Int64
    let entryLimit: Int
    /// The number of bytes received so far for each entry that is being written.
    var pending: [HTTPCache.Entry.ID: Int64] = [:]
    var removals = RecentRemovals()

    private var slots: [Entry?] = []
    private var links: [Links] = []
    private var free: [Int] = []
    private var positions: [HTTPCache.Entry.ID: Int] = [:]
    /// The slots of each key, oldest first.
    private var byKey: [HTTPCache.Entry.Key: [Int]] = [:]
    private var byTarget: [String: Set<HTTPCache.Entry.Key>] = [:]
    private var oldest = none
    private var newest = none
    private var pendingBytes: Int64 = 0
    private var counters = HTTPCache.Statistics()
    private var unreportedEvictions = 0

    init(byteLimit: Int64, entryLimit: Int) {
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
    }

    var statistics: HTTPCache.Statistics {
        var result = counters
        result.entries = positions.count
        return result
    }

    var all: [HTTPCache.Entry] { slots.compactMap { $0?.response } }

    func variants(for key: HTTPCache.Entry.Key) -> [HTTPCache.Entry] {
        byKey[key]?.reversed().compactMap { slots[$0]?.response } ?? []
    }

    mutating func use(_ response: HTTPCache.Entry) -> Data? {
        guard let position = position(of: response) else { return nil }
        touch(position)
        counters.hits += 1
        return slots[position]?.body
    }

    /// Returns the position of the entry's slot; nil if the entry no longer exists. Uses the hint of the lookup where
    /// possible: with many thousands of entries, the index is rarely in the processor's cache.
    private func position(of response: HTTPCache.Entry) -> Int? {
        if let index = response.hint?.mark, slots.indices.contains(index), slots[index]?.response.id == response.id {
            return index
        }
        return positions[response.id]
    }

    /// Adds `count` bytes to the body of an entry that is being written. Returns false if that exceeds a limit, or if
    /// the entry is no longer being written.
    mutating func grow(_ id: HTTPCache.Entry.ID, by count: Int64, bodyLimit: Int64) -> Bool {
        guard let old = pending[id], old + count <= bodyLimit, pendingBytes + count <= byteLimit else {
            return false
        }
        pending[id] = old + count
        pendingBytes += count
        return true
    }

    /// Makes an entry visible. Returns false if a removal after number `start` contains the entry, if a newer response
    /// is stored, or if the entry is no longer being written.
    mutating func commit(
        _ response: HTTPCache.Entry, _ body: Data, replacing others: [HTTPCache.Entry.ID], since start: Int64
    ) -> Bool {
        guard forget(response.id), !removals.reach(response, since: start) else { return false }
        let former = variants(for: response.key).filter { $0.variant == response.variant }
        guard !former.contains(where: { $0.isNewer(than: response) }) else { return false }
        var response = response
        response.bodyLength = Int64(body.count)
        for id in others { drop(id) }
        for old in former { drop(old.id) }
        insert(response, body)
        counters.stored += 1
        evict()
        return true
    }

    /// Stops counting an entry that is being written. Returns false if it is no longer being written.
    @discardableResult
    mutating func forget(_ id: HTTPCache.Entry.ID) -> Bool {
        guard let old = pending.removeValue(forKey: id) else { return false }
        pendingBytes -= old
        return true
    }

    mutating func update(_ response: HTTPCache.Entry) -> Bool {
        guard let position = positions[response.id], let old = slots[position], old.response.key == response.key
        else { return false }
        var response = response
        response.bodyLength = old.response.bodyLength
        response.hint = StoreHint(mark: position)
        for other in variants(for: old.response.key) where other.variant == response.variant && other.id != response.id
        {
            drop(other.id)
        }
        let new = Entry(response, old.body)
        slots[position] = new
        counters.bytes += new.cost - old.cost
        touch(position)
        evict()
        return true
    }

    mutating func remove(_ selection: HTTPCache.Removal) -> Int {
        removals.note(selection)
        let ids: [HTTPCache.Entry.ID] =
            switch selection {
            case .target(let target): (byTarget[target] ?? []).flatMap { variants(for: $0).map(\.id) }
            case .entries(let ids): ids.filter { positions[$0] != nil }
            default: all.filter(selection.contains).map(\.id)
            }
        for id in ids { drop(id) }
        return ids.count
    }

    private mutating func insert(_ response: HTTPCache.Entry, _ body: Data) {
        let position = free.popLast() ?? slots.count
        var hinted = response
        hinted.hint = StoreHint(mark: position)
        let entry = Entry(hinted, body)
        if position == slots.count {
            slots.append(entry)
            links.append(Links())
        } else {
            slots[position] = entry
        }
        link(position)
        positions[response.id] = position
        byKey[response.key, default: []].append(position)
        byTarget[response.key.target, default: []].insert(response.key)
        counters.bytes += entry.cost
        let variants = variants(for: response.key)
        if variants.count > HTTPCache.Entry.variantLimit, let last = variants.last { drop(last.id) }
    }

    private mutating func drop(_ id: HTTPCache.Entry.ID) {
        guard let position = positions.removeValue(forKey: id), let entry = slots[position] else { return }
        unlink(position)
        slots[position] = nil
        free.append(position)
        counters.bytes -= entry.cost
        let key = entry.response.key
        byKey[key]?.removeAll { $0 == position }
        guard byKey[key]?.isEmpty == true else { return }
        byKey[key] = nil
        byTarget[key.target]?.remove(key)
        if byTarget[key.target]?.isEmpty == true { byTarget[key.target] = nil }
    }

    /// Evicts the least recently used entries until the limits are kept.
    private mutating func evict() {
        while counters.bytes > byteLimit || positions.count > entryLimit, giveUpOldest() {}
    }

    /// Evicts the least recently used entry. Returns false if there is none.
    private mutating func giveUpOldest() -> Bool {
        guard oldest != Self.none, let entry = slots[oldest] else { return false }
        drop(entry.response.id)
        counters.evicted += 1
        unreportedEvictions += 1
        return true
    }

    mutating func trim(to bytes: Int64) -> Int {
        let before = positions.count
        while counters.bytes > max(0, bytes), giveUpOldest() {}
        return before - positions.count
    }

    mutating func takeEvictionCount() -> Int {
        defer { unreportedEvictions = 0 }
        return unreportedEvictions
    }

    private mutating func touch(_ position: Int) {
        guard position != newest else { return }
        unlink(position)
        link(position)
    }

    private mutating func link(_ position: Int) {
        links[position] = Links(older: newest)
        if newest != Self.none { links[newest].newer = position }
        newest = position
        if oldest == Self.none { oldest = position }
    }

    private mutating func unlink(_ position: Int) {
        let link = links[position]
        if link.older != Self.none { links[link.older].newer = link.newer } else { oldest = link.newer }
        if link.newer != Self.none { links[link.newer].older = link.older } else { newest = link.older }
    }

    /// Returns the size of an entry in bytes: its body, its strings, and about 1 KiB of overhead.
    private static func cost(_ response: HTTPCache.Entry) -> Int64 {
        var count = 1024 + response.key.target.utf8.count + response.variant.utf8.count
        for field in response.headers { count += 64 + field.name.text.utf8.count + field.value.utf8.count }
        for tag in response.tags { count += 32 + tag.utf8.count }
        return Int64(count) + response.bodyLength
    }
}
