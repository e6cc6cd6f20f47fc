// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie jar that clients share, in memory or with a file behind it.
///
///     let cookies = CookieStore()                                    // as long as the process
///     let cookies = CookieStore(file: path)                          // and longer
///     let client = APIClient(baseURL: "https://example.com", pipeline: .standard.adding(.cookies(cookies)))
///
/// Copies share one jar. Give each user a store of their own: whoever shares a store shares the session.
public struct CookieStore: Sendable {
    private let state: Locked<State>
    private let file: CookieFile?
    /// Held while the file is written, so that an older state never replaces a newer one.
    private let writing = Locked(())

    private struct State: Sendable {
        var jar: CookieJar
        var isDirty = false
        var isWritable = true
        var problem: NetworkError?

        /// Changes of what `file` keeps.
        func changes(_ file: CookieFile?) -> Int {
            file?.keepsSessionCookies == false ? jar.lastingChanges : jar.changes
        }
    }

    /// A store in memory.
    public init(_ jar: CookieJar = CookieJar()) {
        state = Locked(State(jar: jar))
        file = nil
    }

    /// A store that begins with what the file holds, and writes it after each answer that changes what the file keeps. An
    /// end that moves by less than a minute is no change.
    ///
    /// - `path`: in a folder that exists. A missing file is an empty one. At most 16 MiB are read.
    /// - `keepsSessionCookies`: writes those without an end too. Default false, as in a browser that is closed.
    ///
    /// Reads the file now, and never fails: `problem` says what went wrong. The file is readable for its owner only and
    /// is replaced whole, so a crash leaves the old or the new one. A damaged file is renamed, to
    /// `<path>.damaged-<seconds>`; one that cannot be read or renamed, that a newer version wrote, that belongs to another
    /// user, that others can read or change, or that is a symbolic link is left as it is and nothing is saved. Of two processes with one file, the one that writes last wins.
    public init(
        file path: String, keepsSessionCookies: Bool = false, jar: CookieJar = CookieJar(),
        time: any TimeSource = SystemTime()
    ) {
        let file = CookieFile(path: path, keepsSessionCookies: keepsSessionCookies)
        var state = State(jar: jar)
        let now = time.date
        do throws(NetworkError) {
            let content = try file.read(at: now)
            let refused = content.cookies.count { !$0.hasExpired(at: now) && state.jar.insert($0, at: now) != nil }
            state.problem = content.problem
            if refused > 0 {
                state.problem = NetworkError(
                    .storage, detail: "\(refused) cookies of \(path) break the rules of the jar and were left out.")
            }
        } catch {
            state.problem = error
            state.isWritable = false
        }
        self.state = Locked(state)
        self.file = file
    }

    /// All cookies, the oldest first. Some may have expired since the last call.
    public var cookies: [Cookie] { state.withLock { $0.jar.cookies } }

    /// What went wrong with the file, `.storage`; nil when all is well, and again once it has been written.
    public var problem: NetworkError? { state.withLock { $0.problem } }

    /// The cookies that a GET of `url` gets now, in the order of the field. Throws for what is no http or https URL.
    public func cookies(for url: String, at now: Date = Date()) throws(NetworkError) -> [Cookie] {
        let request = try HTTPRequest(url: url)
        return state.withLock { $0.jar.cookies(for: request, at: now) }
    }

    /// Adds a cookie of one's own, or replaces the one of its name, domain and path. Gives the reason if it is not taken.
    @discardableResult
    public func insert(_ cookie: Cookie, at now: Date = Date()) -> CookieRefusal? {
        change { $0.insert(cookie, at: now) }
    }

    /// Removes the cookies that `isUnwanted` says yes to: `store.removeAll { $0.domain == "example.com" }`.
    public func removeAll(where isUnwanted: @Sendable (Cookie) -> Bool) {
        // The jar is not held while the caller's code runs.
        let unwanted = Set(cookies.filter(isUnwanted))
        change { $0.removeAll { unwanted.contains($0) } }
    }

    /// Removes all of them, as at a logout.
    public func removeAll() {
        change { $0.removeAll { _ in true } }
    }

    /// Writes the file if something has not been written yet. Throws `.storage`; without a file it does nothing.
    public func save() throws(NetworkError) {
        persist()
        if let problem = state.withLock({ $0.isDirty ? $0.problem : nil }) { throw problem }
    }

    /// The `Cookie` field for a request.
    func header(for request: HTTPRequest, isCrossSite: Bool, at now: Date) -> String? {
        state.withLock { $0.jar.header(for: request, isCrossSite: isCrossSite, at: now) }
    }

    /// Takes the `Set-Cookie` values of an answer, and gives the reasons for those it does not take.
    func take(
        _ lines: [String], from request: HTTPRequest, at now: Date
    ) -> [(line: String, refusal: CookieRefusal)] {
        let (refused, hasChanged) = state.withLock { state in
            let before = state.changes(file)
            var refused: [(line: String, refusal: CookieRefusal)] = []
            for (position, line) in lines.enumerated() {
                let isOver = position >= state.jar.limits.perResponse
                if let refusal = isOver ? .tooMany : state.jar.store(line, from: request, at: now) {
                    refused.append((line, refusal))
                }
            }
            let hasChanged = state.changes(file) != before
            if hasChanged { state.isDirty = true }
            return (refused, hasChanged)
        }
        if hasChanged { persist() }
        return refused
    }

    /// The list that says which hosts belong together.
    var publicSuffixes: PublicSuffixList { state.withLock { $0.jar.publicSuffixes } }

    private func change<Result: Sendable>(_ change: (inout CookieJar) -> Result) -> Result {
        let result = state.withLock { state in
            state.isDirty = true
            return change(&state.jar)
        }
        persist()
        return result
    }

    /// Writes what has changed. On return it is on the disk, or in `problem` and tried again after the next change.
    private func persist() {
        guard let file else { return }
        writing.withLock { _ in
            let cookies = state.withLock { state -> [Cookie]? in
                guard state.isDirty, state.isWritable else { return nil }
                state.isDirty = false
                return state.jar.cookies
            }
            guard let cookies else { return }
            let failure = file.write(cookies)
            state.withLock { state in
                state.problem = failure
                if failure != nil { state.isDirty = true }
            }
        }
    }
}

extension CookieStore: CustomStringConvertible, CustomReflectable {
    /// How many cookies there are, and where they are kept; never what they hold.
    public var description: String {
        let jar = state.withLock { $0.jar.description }
        return file.map { "\(jar) in \($0.path)" } ?? jar
    }

    /// Nothing inside, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
