// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The hosts that require https, in memory or backed by a file (RFC 6797).
///
///     let hosts = HSTSStore()                     // for the lifetime of the process
///     let hosts = HSTSStore(file: path)           // persistent
///     pipeline.adding(.hsts(hosts))
///
/// Copies share one list. The list has at most `limit` hosts. At this limit, expired hosts are removed first, then the
/// hosts that were least recently used or updated. The list reveals which hosts were visited, so only the owner can
/// read the file.
public struct HSTSStore: Sendable {
    private let state: Locked<State>
    private let path: String?
    /// A lock that is held while the file is written, so that an older state never replaces a newer one.
    private let writing = Locked(NoValue())

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

    /// Creates a store in memory, for at most `limit` hosts. Default 1000, at least 1.
    public init(limit: Int = 1000) {
        state = Locked(State(hosts: HSTSHosts(limit: limit)))
        path = nil
    }

    /// Creates a store with the contents of a file. The store writes the file after each change of the list. If a
    /// response moves an expiry by less than an hour, that is not a change.
    ///
    /// The initializer reads the file synchronously and never fails: `problem` contains the error. A missing file is an
    /// empty list.
    ///
    /// - Only the owner can read the file (mode 0600). It is replaced atomically, so a crash leaves the old or the new
    ///   version.
    /// - A file is not changed, and nothing is saved, if it cannot be read, if it does not contain a list of hosts, if
    ///   another version wrote it, if it belongs to another user, if others can read or change it, or if it is a
    ///   symbolic link.
    /// - If two processes use one file, the last write wins.
    public init(file path: String, limit: Int = 1000, time: any TimeSource = SystemTime()) {
        var state = State(hosts: HSTSHosts(limit: limit))
        do {
            let data = try PrivateFile.read(path, limit: Self.fileLimit, trusting: .ownerAlone)
            let document = try JSONDecoder().decode(Document.self, from: data)
            guard document.version == 1 else { throw NewerVersion() }
            for entry in document.hosts { _ = state.hosts.insert(entry, at: time.date) }
        } catch let failure as PrivateFile.Failure where failure.isMissing {
            // The file does not exist yet.
        } catch let failure as PrivateFile.Failure {
            state.isWritable = false
            state.problem = NetworkError(
                .storage, detail: "\(failure). The file is ignored, and nothing is saved.",
                hint: failure.hint ?? "Check the file and its permissions.")
        } catch {
            state.isWritable = false
            state.problem = NetworkError(
                .storage,
                detail:
                    "\(path) does not contain a list of hosts (\(error)). The file is ignored, and nothing is saved.",
                hint: "Remove the file, or name another one.")
        }
        self.state = Locked(state)
        self.path = path
    }

    /// The hosts in the list, ordered by name. Expired hosts are included until they are removed.
    public var hosts: [String] { state.withLock { $0.hosts.entries.map(\.host) } }

    /// The last error from reading or writing the file, `.storage`; nil if there was none. A successful write resets it
    /// to nil.
    public var problem: NetworkError? { state.withLock { $0.problem } }

    /// Returns whether `host` requires https at `now`, by its own policy or by the policy of a parent domain.
    public func demandsHTTPS(_ host: String, at now: Date = Date()) -> Bool {
        state.withLock { $0.hosts.demandsHTTPS(host, at: now) }
    }

    /// Adds a host that requires https, so that even the first request to it is sent over https. IP addresses are
    /// ignored.
    ///
    /// - `includesSubdomains`: whether the subdomains of `host` also require https. Default false.
    /// - `expires`: the time when the requirement ends. By default, it never ends.
    public func insert(
        _ host: String, includesSubdomains: Bool = false, expires: Date = .distantFuture, at now: Date = Date()
    ) {
        let entry = HSTSHosts.Entry(host: host, expires: expires, includesSubdomains: includesSubdomains)
        change { $0.insert(entry, at: now) }
    }

    /// Removes a host. Requests to it may use http again, unless a parent domain requires https for its subdomains.
    public func remove(_ host: String) {
        change { $0.remove(host) }
    }

    /// Removes all hosts, also from the file.
    public func removeAll() {
        change {
            $0.removeAll()
            return true
        }
    }

    /// Records the policy that a server sent over https.
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
    /// The number of hosts, without their names.
    public var description: String { "HSTSStore(\(hosts.count) hosts)" }

    /// An empty mirror, so that a dump does not show which hosts were visited.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
