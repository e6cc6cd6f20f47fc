// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The route for live notices: an event stream of the changes in the team.
///
/// The stream begins after the notice whose number is in `Last-Event-ID`, or with the oldest notice that is kept. It
/// ends after 30 seconds. The first connection that has received three notices is reset, so that the effect of
/// connecting again is visible.
struct NoticesArea {
    let board: NoticeBoard

    /// The reconnection time that clients are asked for.
    static let retry = Duration.milliseconds(200)
    private static let pause = Duration.milliseconds(20)
    private static let pauses = 1500

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/team/notices/stream", stream)
    }

    private func stream(_ request: RecordedRequest) -> MockResponse {
        let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
        return .events { [board] stream in
            var last = last
            var sent = 0
            // Clients may learn late that the connection is open, unless it begins with something.
            try await stream.comment("notices of the team")
            for _ in 0..<Self.pauses {
                for notice in board.notices(after: last) {
                    let data = String(decoding: try JSONEncoder().encode(notice), as: UTF8.self)
                    try await stream.send(data, id: "\(notice.id)", retry: Self.retry)
                    (last, sent) = (notice.id, sent + 1)
                    if sent == 3, board.takeCut() { return stream.interrupt(by: .reset) }
                }
                try await stream.pause(Self.pause)
            }
        }
    }
}
