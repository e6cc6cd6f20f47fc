// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// A cookie jar that clients share, in memory or backed by a file.
///
///     let cookies = CookieStore()                                    // for the lifetime of the process
///     let cookies = CookieStore(file: path)                          // persistent
///     let client = APIClient(baseURL: "https://example.com", pipeline: .standard.adding(.cookies(cookies)))
///
/// Copies share one jar. Create a separate store for each user: users who share a store share their sessions.
public struct CookieStore: Sendable {
    private let state: Locked<State>
    private let file: CookieFile?
    /// A lock that is held while the file is written, so that an older state never replaces a newer one.
    private let writing = Locked(NoValue())

    private struct State: Sendable {
        var jar: CookieJar
        var isDirty = false
        var isWritable = true
        var problem: NetworkError?

        /// Returns the number of changes to the cookies that `file` stores.
        func changes(_ file: CookieFile?) -> Int {
            file?.keepsSessionCookies == false ? jar.lastingChanges : jar.changes
        }
    }

    /// Creates a store in memory.
    ///
    /// - `publicSuffixes`: the names, such as `co.uk`, whose subdomains may not share a cookie. Default `.bundled`.
    public init(publicSuffixes: PublicSuffixList = .bundled) {
        self.init(CookieJar(publicSuffixes: publicSuffixes))
    }

    init(_ jar: CookieJar) {
        state = Locked(State(jar: jar))
        file = nil
    }

    /// Creates a store with the contents of a file. The store writes the file after each response that changes the
    /// stored cookies, and after each change by the app. If a response moves an expiry by less than a minute, that is
    /// not a change.
    ///
    /// - `path`: a path in an existing folder. A missing file counts as empty. A file of more than 16 MiB is not read.
    /// - `keepsSessionCookies`: whether session cookies are also written. Default false: they end with the process, as
    ///   in a browser that is closed.
    /// - `publicSuffixes`: the names, such as `co.uk`, whose subdomains may not share a cookie. Default `.bundled`.
    /// - `time`: the time source for the expiry of the cookies in the file. Default: the system's clock.
    ///
    /// The initializer reads the file synchronously and never fails: `problem` contains the error.
    ///
    /// - Only the owner can read the file. It is replaced atomically, so a crash leaves the old or the new version.
    /// - A damaged file is renamed to `<path>.damaged-<seconds>`.
    /// - A file is not changed, and nothing is saved, if it cannot be read or renamed, if a newer version wrote it, if
    ///   it belongs to another user, if others can read or change it, or if it is a symbolic link.
    /// - If two processes use one file, the last write wins.
    public init(
        file path: String, keepsSessionCookies: Bool = false, publicSuffixes: PublicSuffixList = .bundled,
        time: any TimeSource = SystemTime()
    ) {
        let jar = CookieJar(publicSuffixes: publicSuffixes)
        self.init(file: path, keepsSessionCookies: keepsSessionCookies, jar: jar, time: time)
    }

    init(file path: String, keepsSessionCookies: Bool = false, jar: CookieJar, time: any TimeSource) {
        let file = CookieFile(path: path, keepsSessionCookies: keepsSessionCookies)
        var state = State(jar: jar)
        let now = time.date
        do throws(NetworkError) {
            let content = try file.read(at: now)
            let refused = content.cookies.count { !$0.hasExpired(at: now) && state.jar.insert($0, at: now) != nil }
            state.problem = content.problem
            if refused > 0 {
                state.problem = NetworkError(
                    .storage, detail: "\(refused) cookies of \(path) are invalid and were skipped.")
            }
        } catch {
            state.problem = error
            state.isWritable = false
        }
        self.state = Locked(state)
        self.file = file
    }

    /// All cookies, oldest first. Expired cookies are included until they are removed.
    public var cookies: [Cookie] { state.withLock { $0.jar.cookies } }

    /// The last error from reading or writing the file, `.storage`; nil if there was none. A successful write resets it
    /// to nil.
    public var problem: NetworkError? { state.withLock { $0.problem } }

    /// Returns the cookies that match a GET request for `url` at `now`, in the order of the `Cookie` field, which omits
    /// those beyond 16 KiB. Throws `.invalidRequest` if `url` is not an http or https URL, or contains userinfo.
    public func cookies(for url: String, at now: Date = Date()) throws(NetworkError) -> [Cookie] {
        let request = try HTTPRequest(url: url)
        return state.withLock { $0.jar.cookies(for: request, at: now) }
    }

    /// Adds a cookie, or replaces the cookie with the same name, domain, `isHostOnly` and path. The cookie lasts at
    /// most 400 days from `now`; if it has expired, it only removes the other one. Returns the reason if the cookie is
    /// refused; nil otherwise.
    @discardableResult
    public func insert(_ cookie: Cookie, at now: Date = Date()) -> Cookie.Refusal? {
        change { $0.insert(cookie, at: now) }
    }

    /// Removes the cookies for which `isUnwanted` returns true: `store.removeAll { $0.domain == "example.com" }`.
    public func removeAll(where isUnwanted: @Sendable (Cookie) -> Bool) {
        // The jar is not locked while the caller's code runs.
        let unwanted = Set(cookies.filter(isUnwanted))
        change { $0.removeAll { unwanted.contains($0) } }
    }

    /// Removes all cookies, for example when the user signs out.
    public func removeAll() {
        change { $0.removeAll { _ in true } }
    }

    /// Writes pending changes to the file. Throws `.storage` if that fails. Does nothing for a store in memory.
    public func save() throws(NetworkError) {
        persist()
        if let problem = state.withLock({ $0.isDirty ? $0.problem : nil }) { throw problem }
    }

    func header(for request: HTTPRequest, isCrossSite: Bool, at now: Date) -> String? {
        state.withLock { $0.jar.header(for: request, isCrossSite: isCrossSite, at: now) }
    }

    /// Stores the cookies from the `Set-Cookie` fields of a response. Returns the refused cookies, each with the
    /// reason.
    func take(
        _ lines: [String], from request: HTTPRequest, at now: Date
    ) -> [(line: String, refusal: Cookie.Refusal)] {
        let (refused, hasChanged) = state.withLock { state in
            let before = state.changes(file)
            var refused: [(line: String, refusal: Cookie.Refusal)] = []
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

    /// The list that defines which hosts belong to the same site.
    var publicSuffixes: PublicSuffixList { state.withLock { $0.jar.publicSuffixes } }

    private func change<Result: Sendable>(_ change: (inout CookieJar) -> Result) -> Result {
        let result = state.withLock { state in
            state.isDirty = true
            return change(&state.jar)
        }
        persist()
        return result
    }

    /// Writes pending changes. On return they are in the file, or `problem` contains the error and the next change
    /// writes them again.
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

extension CookieStore: MirroredByDescription {
    /// The number of cookies and where they are stored, without their contents.
    public var description: String {
        let jar = state.withLock { $0.jar.description }
        return file.map { "\(jar) in \($0.path)" } ?? jar
    }
}

extension CookieStore {
    /// An event of the cookie jar. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// A cookie from the response was refused. `name` is the name that the server sent, clipped to 64 bytes; empty
        /// if there is none.
        case refused(Cookie.Refusal, name: String)

        /// The name of the kind of event: `cookie.refused`.
        public var name: String {
            switch self {
            case .refused: "cookie.refused"
            }
        }

        /// One line: the name of the cookie and the reason.
        public var description: String {
            switch self {
            case .refused(let refusal, let name): "\(name): \(refusal)".printable
            }
        }
    }

    /// The limits on the cookies that a jar stores and a client sends (RFC 6265bis §5.6, §6.1).
    struct Limits: Hashable, Sendable {
        /// The maximum size of name and value together, in bytes; a larger cookie is refused. Default 4096.
        var cookieBytes = 4096
        /// The maximum size of an attribute's value, in bytes; a larger attribute is ignored. Default 1024.
        var attributeBytes = 1024
        /// The maximum number of cookies for one domain. Default 50.
        var perDomain = 50
        /// The maximum number of cookies in the jar. Default 3000.
        var total = 3000
        /// The maximum number of cookies that one response may set; further cookies are refused. Default 50.
        var perResponse = 50
        /// The maximum size of a `Cookie` field, in bytes. Cookies with the longest paths are added first; cookies that
        /// do not fit are not sent. Default 16 KiB.
        var headerBytes = 16 * 1024
        /// The maximum lifetime of a cookie, even if the server specifies a longer one. Default 400 days.
        var lifetime = Duration.seconds(400 * 86_400)

        init() {}

        static let standard = CookieStore.Limits()
    }
}
