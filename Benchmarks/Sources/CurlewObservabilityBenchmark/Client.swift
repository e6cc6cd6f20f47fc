// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Dispatch
import Foundation

/// The client of one variant, which sends small GETs one after the other.
struct Client {
    private struct Item: Decodable {
        let id: Int
        let name: String
    }

    let variant: Variant
    let port: Int

    /// Runs the calls on a thread of the pool, and waits for them.
    func runAndWait(_ calls: Int) {
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run(calls)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
            end.signal()
        }
        end.wait()
    }

    private func run(_ calls: Int) async throws {
        let base: BaseURL = "http://127.0.0.1:\(port)"
        let client = APIClient(
            baseURL: base, pipeline: variant.pipeline, transport: CurlTransport(),
            configuration: APIClient.Configuration(observers: variant.observers))
        let request = Request<Item>.get("/items/1")
        for _ in 0..<calls {
            let item = try await client.send(request)
            guard item.id == 1 else { throw NetworkError(.badResponse) }
        }
    }
}

/// The server of the benchmark.
enum Server {
    /// Serves until standard input ends. Prints the port first.
    static func run() throws {
        let server = try MockServer()
        server.on(.get, "/items/:id") { _ in .json(text) }
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
    }

    private static let text: JSONValue = ["id": 1, "name": "a curlew"]
}
