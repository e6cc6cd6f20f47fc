// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for sign-in, token refresh, and the current user.
///
/// Access tokens are short-lived JSON Web Tokens. A refresh token is valid once. If a client sends it again, the
/// session of the token ends (RFC 9700 §4.14.2), so the service detects a client that refreshes twice concurrently.
struct AuthArea {
    let assetsURL: String
    let time: any TimeSource
    private let key: Data
    private let sessions: Locked<Sessions>
    private let sessionsPath: String?

    /// Creates the area with the sessions from a file, or without sessions.
    ///
    /// - `sessionsPath`: a file that stores the sessions, or nil. A file that cannot be read is replaced.
    init(assetsURL: String, time: any TimeSource, sessionsPath: String? = nil) {
        self.assetsURL = assetsURL
        self.time = time
        self.sessionsPath = sessionsPath
        let kept = sessionsPath.flatMap { path in
            FileManager.default.contents(atPath: path).flatMap {
                try? JSONDecoder().decode(Sessions.self, from: $0)
            }
        }
        let sessions = kept ?? Sessions()
        key = Data(sessions.key.utf8)
        self.sessions = Locked(sessions)
    }

    /// Changes the sessions and returns the result of `change`. Saves the sessions if there is a file for them.
    private func change<Value: Sendable>(_ change: @Sendable (inout Sessions) -> Value) -> Value {
        sessions.withLock { sessions in
            let value = change(&sessions)
            // A file that cannot be written does not stop the service.
            if let sessionsPath, let data = try? JSONEncoder().encode(sessions) {
                try? data.write(to: URL(filePath: sessionsPath), options: .atomic)
                let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
                try? FileManager.default.setAttributes(isPrivate, ofItemAtPath: sessionsPath)
            }
            return value
        }
    }

    func add(to routes: inout SampleRoutes) {
        routes.on(.post, "/auth/login", login)
        routes.on(.post, "/auth/refresh", refresh)
        routes.on(.get, "/auth/me", currentUser)
    }

    private func login(_ request: RecordedRequest) throws -> MockResponse {
        let given: Credentials = try request.json()
        guard let account = Account.all.first(where: { $0.username == given.username }),
            account.password == given.password
        else { throw Refusal(.badRequest, "Invalid credentials") }
        let session = Session(accountID: account.id)
        change { $0.add(session) }
        return .json(
            SignedIn(
                account.shown(with: assetsURL), try accessToken(for: session, minutes: given.expiresInMins),
                session.refreshToken))
    }

    private func refresh(_ request: RecordedRequest) throws -> MockResponse {
        let given: Renewal = try request.json()
        guard let session = change({ $0.exchange(given.refreshToken) }) else {
            throw Refusal.unauthorized("Invalid refresh token")
        }
        return .json(
            Renewed(
                accessToken: try accessToken(for: session, minutes: given.expiresInMins),
                refreshToken: session.refreshToken))
    }

    private func currentUser(_ request: RecordedRequest) throws -> MockResponse {
        .json(try account(of: request).shown(with: assetsURL))
    }

    /// Returns the account of the request's access token. Throws a 401 refusal unless the token is valid, its session
    /// is open, and it has not expired.
    func account(of request: RecordedRequest) throws -> Account {
        guard let text = request.bearerToken else { throw Refusal.unauthorized("Access Token is required") }
        guard let token = SampleToken(text, signedWith: key), sessions.withLock({ $0.isOpen(token.jti) }),
            let account = Account.all.first(where: { $0.id == token.sub })
        else { throw Refusal.unauthorized("Invalid Access Token") }
        guard Double(token.exp) > time.date.timeIntervalSince1970 else { throw Refusal.unauthorized("Token Expired!") }
        return account
    }

    /// Returns an access token that is valid for one hour, or for the number of minutes that the client requests. That
    /// number may be fractional, and is limited to 30 days.
    private func accessToken(for session: Session, minutes: Double?) throws -> String {
        let minutes = min(max(minutes ?? 60, 0), 60 * 24 * 30)
        let now = Int64(time.date.timeIntervalSince1970)
        return try SampleToken(
            sub: session.accountID, iat: now, exp: now + Int64((minutes * 60).rounded(.up)), jti: session.id
        ).signed(with: key)
    }

    private struct Credentials: Decodable {
        let username: String
        let password: String
        let expiresInMins: Double?
    }

    private struct Renewal: Decodable {
        let refreshToken: String
        let expiresInMins: Double?
    }

    private struct Renewed: Encodable {
        let accessToken, refreshToken: String
    }

    private struct SignedIn: Encodable {
        let id: Int
        let username, email, firstName, lastName, gender, image, accessToken, refreshToken: String

        init(_ account: Account, _ accessToken: String, _ refreshToken: String) {
            id = account.id
            username = account.username
            email = account.email
            firstName = account.firstName
            lastName = account.lastName
            gender = account.gender
            image = account.image
            self.accessToken = accessToken
            self.refreshToken = refreshToken
        }
    }
}

/// The open sessions, at most 1,000. If there are more, the oldest one ends.
private struct Sessions: Codable, Sendable {
    /// The key with which access tokens are signed.
    let key: String
    private var all: [Session] = []

    init() { key = Session.randomToken() }

    mutating func add(_ session: Session) {
        if all.count >= 1000 { all.removeFirst() }
        all.append(session)
    }

    func isOpen(_ id: String) -> Bool {
        all.contains { $0.id == id }
    }

    /// Finds the session with this refresh token, replaces the token, and returns the session. If the token has already
    /// been used, ends its session and returns nil. Also returns nil if the token is unknown.
    mutating func exchange(_ token: String) -> Session? {
        if let index = all.firstIndex(where: { $0.refreshToken == token }) {
            all[index].rotate()
            return all[index]
        }
        all.removeAll { $0.spent.contains(token) }
        return nil
    }
}

private struct Session: Codable, Sendable {
    let accountID: Int
    let id: String
    private(set) var refreshToken: String
    /// The refresh tokens that were exchanged last, at most 100.
    private(set) var spent: [String] = []

    init(accountID: Int) {
        self.accountID = accountID
        id = Self.randomToken()
        refreshToken = Self.randomToken()
    }

    mutating func rotate() {
        if spent.count >= 100 { spent.removeFirst() }
        spent.append(refreshToken)
        refreshToken = Self.randomToken()
    }

    /// Returns a token of 192 random bits as text. It is opaque to clients.
    static func randomToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<3).map { _ in String(generator.next(), radix: 36) }.joined()
    }
}

extension RecordedRequest {
    /// The bearer token in the Authorization field (RFC 6750 §2.1); nil if there is none. The name of the scheme is
    /// case-insensitive.
    fileprivate var bearerToken: String? {
        guard let parts = headers[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "bearer"
        else { return nil }
        return String(parts[1])
    }
}
