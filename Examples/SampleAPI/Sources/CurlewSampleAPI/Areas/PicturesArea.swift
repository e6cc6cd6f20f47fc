// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The route for avatars. They are on a separate origin.
struct PicturesArea {
    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/avatars/:name", avatar)
    }

    private func avatar(_ request: RecordedRequest) throws -> MockResponse {
        guard let name = request.parameters["name"], name.hasSuffix(".png"), name.utf8.count <= 100 else {
            throw Refusal(.notFound, "There is no such picture.")
        }
        return .data(PixelAvatar(name: name).png, type: MediaType(type: "image", subtype: "png"))
    }
}
