// SPDX-License-Identifier: MIT

import Curlew

nonisolated struct Row: Codable {
    let id: Int
    let name: String
}

/// Rows that can be read again and again.
nonisolated struct RowDatabase: Sendable {
    func rows() throws -> AsyncStream<Row> { AsyncStream { $0.finish() } }
}

enum JSONLinesPage {
    static func loop(_ client: APIClient) async throws {
        for try await row in client.records(.get("/export"), of: Row.self) {
            print(row.id, row.name)
        }
    }

    static func skipping(_ client: APIClient) async throws {
        var options = RecordStreamOptions()
        options.checksContentType = false
        options.skipsBadRecords = true
        let rows = client.records(.get("/log.txt"), of: Row.self, options: options)
        for try await row in rows {
            print(row.name)
        }
        print("\(rows.skippedRecords) bad records")
    }

    static func sending(_ client: APIClient, _ rows: AsyncStream<Row>) async throws {
        try await client.send(Request<Void>.post("/import", body: .jsonLines(rows)))
    }

    static func sendingAgain(_ client: APIClient, _ database: RowDatabase) async throws {
        let body = RequestContent.jsonLines { try database.rows() }
        try await client.send(Request<Void>.put("/import", body: body))
    }

    static func lines(_ client: APIClient) async throws {
        try await client.withResponse(to: Request<HTTPResponse>(.get, "/log.txt")) { response in
            for try await line in response.body.lines {
                print(line)
            }
        }
    }
}
