// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

nonisolated struct Member: Decodable {
    let id: Int
    let avatar: String
}

extension Request {
    static func member(_ id: Int) -> Request<Member> { .get("/members/\(id)") }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
final class MemberRow {
    let member: Loadable<Member>
    let picture: Loadable<ImageData>

    init(_ id: Int, client: APIClient) {
        member = Loadable(.member(id), from: client)
        picture = member.then { try await client.send(.image(url: $0.avatar, pixelLimit: 1_000_000)) }
    }
}

/// Stands for a view.
@MainActor
struct RowView {
    func task(_ work: @escaping @MainActor () async -> Void) -> Task<Void, Never> { Task { await work() } }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
enum ImagesPage {
    static func one(_ user: Member, _ client: APIClient) async throws {
        let picture = try await client.send(.image(url: user.avatar))
        print(picture.mediaType, picture.width, picture.height)
    }

    static func row(_ row: MemberRow) -> Task<Void, Never> {
        RowView()
            .task { await row.picture.appeared() }
    }

    static func upload(_ path: String, _ client: APIClient, _ screen: any ProgressScreen) async throws {
        let progress = ObservableProgress()
        try await client.send(Request<Void>.post("/photos", body: .file(path).reporting(progress.handler)))
        screen.show(progress.fraction ?? 0)
    }
}

@MainActor
protocol ProgressScreen {
    func show(_ fraction: Double)
}
