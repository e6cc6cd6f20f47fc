// SPDX-License-Identifier: MIT

package import Foundation

/// A folder that goes with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and gives its path.
    package func file(_ name: String, _ content: Data) throws -> String {
        let file = path + "/" + name
        try content.write(to: URL(fileURLWithPath: file))
        return file
    }

    package func file(_ name: String, _ content: String) throws -> String {
        try file(name, Data(content.utf8))
    }
}
