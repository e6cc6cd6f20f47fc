// SPDX-License-Identifier: MIT

import Foundation

/// The model of the small response. Every typed client decodes the same bytes into it.
struct User: Decodable, Sendable {
    let id: Int
    let firstName: String
    let lastName: String
    let email: String
    let age: Int
    let isActive: Bool
}

/// A new file for writing, in place of one that is there.
func emptyFile(_ path: String) throws -> FileHandle {
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { throw Failure("cannot write \(path)") }
    return file
}

/// What the server has.
enum Canned {
    static let user = Data(
        #"{"id":1,"firstName":"Emily","lastName":"Johnson","email":"emily.johnson@example.com","age":28,"isActive":true,"role":"admin","city":"Phoenix","company":"Dooley, Kozey and Cronin","title":"Sales Manager"}"#
            .utf8)

    /// Writes `count` bytes that do not repeat within a disk block, in pieces.
    static func write(_ count: Int, to path: String) throws {
        let file = try emptyFile(path)
        defer { try? file.close() }
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let block = Data(
            (0..<(1 << 20)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            })
        var left = count
        while left > 0 {
            try file.write(contentsOf: block.prefix(left))
            left -= min(left, block.count)
        }
    }
}
