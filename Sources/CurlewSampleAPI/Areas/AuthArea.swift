// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting

/// Signing in, and who is signed in.
struct AuthArea {
    let assetsURL: String
    private let sessions = Locked(Sessions())

    init(assetsURL: String) {
        self.assetsURL = assetsURL
    }

    func add(to routes: inout SampleRoutes) {
        routes.on(.post, "/auth/login", login)
        routes.on(.get, "/auth/me", currentUser)
    }

    private func login(_ request: RecordedRequest) throws -> MockResponse {
        let given: Credentials = try request.json()
        guard let account = Account.all.first(where: { $0.username == given.username }),
            account.password == given.password
        else { throw Refusal(.badRequest, "Invalid credentials") }
        let session = Session(accountID: account.id)
        sessions.withLock { $0.add(session) }
        return .json(SignedIn(account.shown(with: assetsURL), session))
    }

    private func currentUser(_ request: RecordedRequest) throws -> MockResponse {
        guard let token = request.bearerToken else { throw Refusal.unauthorized("Access Token is required") }
        let session = sessions.withLock { $0.session(accessToken: token) }
        guard let session, let account = Account.all.first(where: { $0.id == session.accountID }) else {
            throw Refusal.unauthorized("Invalid Access Token")
        }
        return .json(account.shown(with: assetsURL))
    }

    private struct Credentials: Decodable {
        let username: String
        let password: String
    }

    private struct SignedIn: Encodable {
        let id: Int
        let username, email, firstName, lastName, gender, image, accessToken, refreshToken: String

        init(_ account: Account, _ session: Session) {
            id = account.id
            username = account.username
            email = account.email
            firstName = account.firstName
            lastName = account.lastName
            gender = account.gender
            image = account.image
            accessToken = session.accessToken
            refreshToken = session.refreshToken
        }
    }
}

/// Who has signed in; the oldest give way beyond a thousand.
private struct Sessions: Sendable {
    private var all: [Session] = []

    mutating func add(_ session: Session) {
        if all.count >= 1000 { all.removeFirst() }
        all.append(session)
    }

    func session(accessToken: String) -> Session? {
        all.first { $0.accessToken == accessToken }
    }
}

private struct Session: Sendable {
    let accountID: Int
    let accessToken = Session.randomToken()
    let refreshToken = Session.randomToken()

    /// 192 random bits. They mean nothing to a client, and should not.
    private static func randomToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<3).map { _ in String(generator.next(), radix: 36) }.joined()
    }
}

extension RecordedRequest {
    /// RFC 6750 §2.1; the scheme's name has no case.
    fileprivate var bearerToken: String? {
        guard let parts = headers[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "bearer"
        else { return nil }
        return String(parts[1])
    }
}
