// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for the members of a team. Clients can create, change and remove members, and upload avatars for them.
/// Errors are problem details (RFC 9457). The board has a notice for each change of the members.
struct TeamArea {
    let board: NoticeBoard
    private let team = Locked(Team())

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/team/users", list)
        routes.on(.post, "/team/users", create)
        routes.on(.get, "/team/users/:id", one)
        routes.on(.put, "/team/users/:id", change)
        routes.on(.delete, "/team/users/:id", remove)
        routes.on(.post, "/team/users/:id/avatar", upload)
    }

    private func list(_ request: RecordedRequest) throws -> MockResponse {
        .json(team.withLock { $0.members })
    }

    private func one(_ request: RecordedRequest) throws -> MockResponse {
        .json(try member(request))
    }

    private func create(_ request: RecordedRequest) throws -> MockResponse {
        let given = try checked(request)
        guard let member = team.withLock({ $0.add(given) }) else {
            throw Refusal.problem(.conflict, "The team is complete.")
        }
        board.post("\(member.name) joined the team")
        return .json(member, status: .created).with(headers: [.location: "/team/users/\(member.id)"])
    }

    private func change(_ request: RecordedRequest) throws -> MockResponse {
        let given = try checked(request)
        let id = try member(request).id
        guard let member = team.withLock({ $0.change(id, to: given) }) else { throw Self.unknown }
        board.post("\(member.name) has a new entry")
        return .json(member)
    }

    private func remove(_ request: RecordedRequest) throws -> MockResponse {
        let member = try member(request)
        guard team.withLock({ $0.remove(member.id) }) else { throw Self.unknown }
        board.post("\(member.name) left the team")
        return .status(.noContent)
    }

    /// Accepts a form with an image in the file part `avatar`, and responds with a description of the received file.
    private func upload(_ request: RecordedRequest) throws -> MockResponse {
        let id = try member(request).id
        let parts = try MultipartReader.parts(of: request)
        guard let file = parts.first(where: { $0.name == "avatar" }), let fileName = file.fileName else {
            throw Refusal.problem(.unprocessableContent, "The form has no file called avatar.")
        }
        guard let type = file.mediaType, type.type == "image" else {
            throw Refusal.problem(.unsupportedMediaType, "An avatar is a picture.")
        }
        let received = Received(
            userId: id, fileName: fileName, mediaType: type.essence, bytes: file.content.count,
            checksum: CRC32(file.content).hexadecimal,
            fields: parts.filter { $0.fileName == nil }.map(\.name))
        return .json(received, status: .created)
    }

    private func member(_ request: RecordedRequest) throws(Refusal) -> Member {
        let id = request.id()
        guard let member = team.withLock({ team in team.members.first { $0.id == id } }) else { throw Self.unknown }
        return member
    }

    private func checked(_ request: RecordedRequest) throws -> Member.Given {
        let given: Member.Given = try request.json()
        guard !given.name.isEmpty, given.name.count <= 100 else {
            throw Refusal.problem(.unprocessableContent, "A name has 1 to 100 characters.")
        }
        guard given.email.contains("@"), given.email.count <= 100 else {
            throw Refusal.problem(.unprocessableContent, "The email address is none.")
        }
        return given
    }

    private static let unknown = Refusal.problem(.notFound, "No member of the team has this number.")

    private struct Received: Encodable {
        let userId: Int
        let fileName, mediaType: String
        let bytes: Int
        let checksum: String
        let fields: [String]
    }
}

/// The members of the team in the order in which they were added, at most 1,000.
private struct Team: Sendable {
    private(set) var members = Member.founders
    private var lastID = Member.founders.count

    mutating func add(_ given: Member.Given) -> Member? {
        guard members.count < 1000 else { return nil }
        lastID += 1
        let member = Member(id: lastID, name: given.name, email: given.email, role: given.role)
        members.append(member)
        return member
    }

    mutating func change(_ id: Int, to given: Member.Given) -> Member? {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return nil }
        members[index] = Member(id: id, name: given.name, email: given.email, role: given.role)
        return members[index]
    }

    mutating func remove(_ id: Int) -> Bool {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return false }
        members.remove(at: index)
        return true
    }
}
