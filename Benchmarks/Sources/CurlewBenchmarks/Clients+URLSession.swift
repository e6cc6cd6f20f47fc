// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Clients {
    /// URLSession as its users write it, with a decoder made once.
    static func urlSession(url: String, connections: Int?, _ work: Work) throws -> Call {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        if let connections { configuration.httpMaximumConnectionsPerHost = connections }
        let session = URLSession(configuration: configuration)
        guard let target = URL(string: url + work.path) else { throw Failure("no URL") }
        switch work {
        case .typed:
            let decoder = JSONDecoder()
            return {
                let (data, response) = try await session.data(for: URLRequest(url: target))
                try check(response)
                guard try decoder.decode(User.self, from: data).id == 1 else { throw Failure("wrong answer") }
            }
        case .bytes(let count):
            return {
                let (data, response) = try await session.data(for: URLRequest(url: target))
                try check(response)
                guard data.count == count else { throw Failure("wrong answer") }
            }
        case .download(_, let path):
            return {
                let (file, response) = try await session.download(for: URLRequest(url: target))
                try check(response)
                try? FileManager.default.removeItem(atPath: path)
                try FileManager.default.moveItem(at: file, to: URL(fileURLWithPath: path))
            }
        case .upload(_, let path):
            return {
                var request = URLRequest(url: target)
                request.httpMethod = "PUT"
                let (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
                try check(response)
            }
        }
    }

    private static func check(_ response: URLResponse) throws {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200...299).contains(status) else { throw Failure("status \(status)") }
    }
}
