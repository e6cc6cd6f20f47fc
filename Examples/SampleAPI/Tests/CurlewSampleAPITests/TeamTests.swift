// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TeamTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    @Test("Members are created, changed, listed and removed")
    func lifeCycle() async throws {
        let client = sample.client
        let created = try await client.response(for: Request<Member>.post("/team/users", json: NewMember()))
        #expect(created.status == .created)
        #expect(created.headers[.location] == "/team/users/4")
        #expect(created.value.name == "Radia Perlman")

        let changed: Member = try await client.send(.put("/team/users/4", json: NewMember(role: "admin")))
        #expect(changed.role == "admin")
        #expect(try await client.send(Request<Member>.get("/team/users/4")) == changed)

        let removed: HTTPResponse = try await client.send(Request<HTTPResponse>(.delete, "/team/users/4"))
        #expect(removed.status == .noContent)
        let left: [Member] = try await client.send(.get("/team/users"))
        #expect(left.map(\.id) == [1, 2, 3])
        let next: Member = try await client.send(.post("/team/users", json: NewMember()))
        #expect(next.id == 5)
    }

    @Test(
        "What is not on the team gets 404 with problem details",
        arguments: [(HTTPMethod.get, "9"), (.put, "9"), (.delete, "9"), (.get, "x")])
    func unknown(method: HTTPMethod, id: String) async throws {
        let content: RequestContent = method == .put ? .json(NewMember()) : .none
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(Request<Void>(method, "/team/users/\(id)", body: content))
        }
        #expect(error?.problem?.status == 404)
        #expect(error?.problem?.detail == "No member of the team has this number.")
    }

    @Test(
        "A member without a name or address is refused",
        arguments: [
            NewMember(name: ""), NewMember(email: "nowhere"), NewMember(name: String(repeating: "x", count: 101)),
        ])
    func invalid(member: NewMember) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.post("/team/users", json: member))
        }
        #expect(error?.problem?.status == 422)
        let all: [Member] = try await sample.client.send(.get("/team/users"))
        #expect(all.count == 3)
    }

    @Test("An avatar arrives as it was sent, beside the fields")
    func upload() async throws {
        let picture = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let form: MultipartForm = [
            .field("caption", "By the sea"), .data("avatar", picture, fileName: "a \"b\".jpg"),
        ]
        let receipt: Receipt = try await sample.client.send(.post("/team/users/2/avatar", body: .multipart(form)))
        #expect(receipt.userId == 2)
        #expect(receipt.fileName == "a \"b\".jpg")
        #expect(receipt.mediaType == "image/jpeg")
        #expect(receipt.bytes == 5000)
        #expect(receipt.checksum == "b641f5c8")
        #expect(receipt.fields == ["caption"])
    }

    @Test(
        "What is no picture in a form is refused",
        arguments: [
            (RequestContent.json(["avatar": 1]), 415), (.multipart([.field("avatar", "text")]), 422),
            (.multipart([.data("other", Data(), fileName: "a.png")]), 422),
            (.multipart([.data("avatar", Data(), fileName: "a.exe")]), 415),
            (.data(Data("--x\r\nbroken".utf8), type: MultipartForm([], boundary: "x").mediaType), 400),
        ])
    func refusedUploads(content: RequestContent, status: Int) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.post("/team/users/2/avatar", body: content))
        }
        #expect(error?.statusCode == status)
        #expect(error?.problem != nil)
    }

    @Test("The dashboard has its three parts")
    func dashboard() async throws {
        let client = sample.client
        async let profile: JSONValue = client.send(.get("/team/dashboard/profile"))
        async let statistics: JSONValue = client.send(.get("/team/dashboard/statistics"))
        async let notifications: JSONValue = client.send(.get("/team/dashboard/notifications"))
        #expect(try await profile["name"].string == "Ada Lovelace")
        #expect(try await statistics["closedTasks"].int == 1842)
        #expect(try await notifications.array?.count == 3)
    }
}
