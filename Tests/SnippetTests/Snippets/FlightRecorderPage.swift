// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording
import Foundation

// What the page on the flight recorder shows.

enum FlightRecorderPage {
    static func make() -> (APIClient, FlightRecorder) {
        let recorder = FlightRecorder()
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.recording(recorder)))

        return (client, recorder)
    }

    func writeRecording(of recorder: FlightRecorder, to folder: URL) throws {
        try recorder.har().data().write(to: folder.appending(path: "calls.har"))
        try Data(recorder.htmlReport().utf8).write(to: folder.appending(path: "calls.html"))
        print(recorder.curlCommands().joined(separator: "\n\n"))
    }

    static func makeWithBodies() -> FlightRecorder {
        let recorder = FlightRecorder(capacity: 50, bodies: .upTo(64 << 10))

        return recorder
    }

    static func makeForFailures(folder: String) -> FlightRecorder {
        let recorder = FlightRecorder(bodies: .upTo(), onFailure: .writeFiles(to: folder, limit: 20))

        return recorder
    }

    func page(of file: URL) throws -> String {
        let document = try HARDocument(Data(contentsOf: file))
        return HTMLReport(document.redacted(), title: file.lastPathComponent).text
    }
}
