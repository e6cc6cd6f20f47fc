// SPDX-License-Identifier: MIT

import Curlew

/// A member of the team.
struct Member: Codable, Identifiable, Hashable, Sendable {
    let id: Int
    var name, email, role: String
}

/// A future member of the team: the server assigns the number.
struct NewMember: Encodable, Hashable, Sendable {
    var name, email, role: String
}

/// What the server has got of an upload.
struct Receipt: Decodable, Hashable, Sendable {
    let fileName, mediaType: String
    let bytes: Int
}

/// Create, read, update, delete: a line for each. The server explains what it refuses as problem details (RFC 9457).
extension Request {
    static var team: Request<[Member]> { .get("/team/users") }

    static func create(_ member: NewMember) -> Request<Member> { .post("/team/users", json: member) }

    static func update(_ member: Member) -> Request<Member> { .put("/team/users/\(member.id)", json: member) }

    static func remove(_ id: Member.ID) -> Request<Void> { .delete("/team/users/\(id)") }

    /// Nil if there is none: here 404 is a response, not an error.
    static func member(_ id: Member.ID) -> Request<Member?> {
        Request<Member?>.get("/team/users/\(id)").options { $0.decodesNotFoundAsNil = true }
    }

    static func upload(avatar: Data, fileName: String, of id: Member.ID) -> Request<Receipt> {
        .post(
            "/team/users/\(id)/avatar",
            body: .multipart([
                .field("caption", "As the team knows them"),
                .data("avatar", avatar, fileName: fileName, type: MediaType(type: "image", subtype: "png")),
            ]))
    }
}
