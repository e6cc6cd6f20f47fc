// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Hosts that have said that they are to be asked over https only, in memory or with a file behind it (RFC 6797).
///
///     let hosts = HSTSStore()                     // as long as the process
///     let hosts = HSTSStore(file: path)           // and longer
///     pipeline.adding(.hsts(hosts))
///
/// Copies share one list. It is bounded: at `limit` hosts, those go first whose time is over, then the one that was
/// least recently asked or heard of. What it holds tells which hosts were visited, so the file is for its owner only.
public struct HSTSStore: Sendable {
    private let state: Locked<State>
    private let path: String?
    /// Held while the file is written, so that an older state never replaces a newer one.
    private let writing = Locked(())

    private struct State: Sendable {
        var hosts: HSTSHosts
        var isDirty = false
        var isWritable = true
        var problem: NetworkError?
    }

    private struct Document: Codable {
        var version = 1
        let hosts: [HSTSHosts.Entry]
    }

    private struct NewerVersion: Error, CustomStringConvertible {
        var description: String { "another version of the package wrote it" }
    }

    private static let fileLimit = 16 << 20

    /// A store in memory. Default at most 1000 hosts.
    public init(limit: Int = 1000) {
        state = Locked(State(hosts: HSTSHosts(limit: limit)))
        path = nil
    }

    /// A store that begins with what the file holds, and writes it after each answer that brings news. An end that moves
    /// by less than an hour is none.
    ///
    /// Reads the file now, and never fails: `problem` says what went wrong. A missing file is an empty list. One that
    /// cannot be read, belongs to another user, can be read or changed by others, or is a symbolic link is left as it is,
    /// and nothing is saved. The file has mode 0600 and is replaced whole. Of two
    /// processes with one file, the one that writes last wins.
    public init(file path: String, limit: Int = 1000, time: any TimeSource = SystemTime()) {
        var state = State(hosts: HSTSHosts(limit: limit))
        do {
            let data = try PrivateFile.read(path, limit: Self.fileLimit, trusting: .ownerAlone)
            let document = try JSONDecoder().decode(Document.self, from: data)
            guard document.version == 1 else { throw NewerVersion() }
            for entry in document.hosts { _ = state.hosts.insert(entry, at: time.date) }
        } catch let failure as PrivateFile.Failure where failure.isMissing {
            // A list that begins.
        } catch let failure as PrivateFile.Failure {
            state.isWritable = false
            state.problem = NetworkError(
                .storage, detail: "\(failure). Nothing of it is used, and nothing is saved.",
                hint: failure.hint ?? "Check the file and its permissions.")
        } catch {
            state.isWritable = false
            state.problem = NetworkError(
                .storage,
                detail: "\(path) holds no list of hosts (\(error)). Nothing of it is used, and nothing is saved.",
                hint: "Remove the file, or name another one.")
        }
        self.state = Locked(state)
        self.path = path
    }

    /// The hosts in the list, in the order of their names. Some may have expired.
    public var hosts: [String] { state.withLock { $0.hosts.entries.map(\.host) } }

    /// What went wrong with the file, `.storage`; nil when all is well, and again once it has been written.
    public var problem: NetworkError? { state.withLock { $0.problem } }

    /// Whether a request to `host` goes over https at `now`.
    public func demandsHTTPS(_ host: String, at now: Date = Date()) -> Bool {
        state.withLock { $0.hosts.demandsHTTPS(host, at: now) }
    }

    /// Adds a host before it was ever asked. Addresses have no place in the list, and are left out.
    public func insert(
        _ host: String, includesSubdomains: Bool = false, expires: Date = .distantFuture, at now: Date = Date()
    ) {
        let entry = HSTSHosts.Entry(host: host, expires: expires, includesSubdomains: includesSubdomains)
        change { $0.insert(entry, at: now) }
    }

    /// Forgets a host.
    public func remove(_ host: String) {
        change { $0.remove(host) }
    }

    /// Forgets all hosts.
    public func removeAll() {
        change {
            $0.removeAll()
            return true
        }
    }

    /// Takes what a server has said over https.
    func note(_ rule: StrictTransportSecurity, of host: String, at now: Date) {
        change { $0.note(rule, of: host, at: now) }
    }

    private func change(_ change: (inout HSTSHosts) -> Bool) {
        let isNews = state.withLock { state in
            let isNews = change(&state.hosts)
            if isNews { state.isDirty = true }
            return isNews
        }
        if isNews { persist() }
    }

    private func persist() {
        guard let path else { return }
        writing.withLock { _ in
            let entries = state.withLock { state -> [HSTSHosts.Entry]? in
                guard state.isDirty, state.isWritable else { return nil }
                state.isDirty = false
                return state.hosts.entries
            }
            guard let entries else { return }
            var problem: NetworkError?
            do {
                try PrivateFile.replace(path, with: try JSONEncoder().encode(Document(hosts: entries)))
            } catch {
                problem = NetworkError(.storage, detail: "\(error). The list of hosts is in memory only.")
            }
            state.withLock { [problem] state in
                state.problem = problem
                if problem != nil { state.isDirty = true }
            }
        }
    }
}

extension HSTSStore: CustomStringConvertible, CustomReflectable {
    /// How many hosts there are.
    public var description: String { "HSTSStore(\(hosts.count) hosts)" }

    /// Nothing inside: which hosts were visited is nobody's business.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
