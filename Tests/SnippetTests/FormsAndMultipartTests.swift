// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

/// The page about forms and multipart, run.
@Suite(.timeLimit(.minutes(1)))
struct FormsAndMultipartTests {
    @Test func formsAreSentAsThePageSays() async throws {
        let client = APIClient.mock { $0.on(.post, "/*path", .status(.noContent)) }
        try await FormsPage.forms(client, TicketOrder())
        let bodies = client.recordedCalls.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(
            bodies == [
                "user=ann&remember=true", "film=nosferatu&seats=7&seats=8&buyer%5Bname%5D=Ann",
                "film=nosferatu&seats%5B%5D=7&seats%5B%5D=8&buyer%5Bname%5D=Ann",
            ])
    }

    @Test func theQueryOfAValueOmitsNil() async throws {
        let client = APIClient.mock { $0.on(.get, "/films", .text("[]")) }
        #expect(try await FormsPage.query(client, FilmFilter(years: [1922, 1927])).isEmpty)
        #expect(client.recordedCalls.first?.request.target == "/films?years=1922&years=1927")
    }
}
