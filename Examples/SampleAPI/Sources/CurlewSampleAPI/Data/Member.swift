// SPDX-License-Identifier: MIT

struct Member: Encodable, Sendable {
    let id: Int
    let name, email, role: String

    /// The properties of a member that a client sends. The server assigns the `id`.
    struct Given: Decodable {
        let name, email, role: String
    }

    static let founders = [
        Member(id: 1, name: "Ada Lovelace", email: "ada@example.com", role: "admin"),
        Member(id: 2, name: "Grace Hopper", email: "grace@example.com", role: "editor"),
        Member(id: 3, name: "Alan Turing", email: "alan@example.com", role: "viewer"),
    ]
}
