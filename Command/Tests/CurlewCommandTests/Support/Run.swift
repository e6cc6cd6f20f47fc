// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON
import Foundation

@testable import CurlewCommand

/// One run of the command with streams in memory.
struct Run {
    let code: Int32
    let output: String
    let error: String

    /// The output as a JSON value; null if it is not JSON.
    var json: JSONValue { (try? FastJSONDecoder().decode(JSONValue.self, from: Data(output.utf8))) ?? .null }

    @discardableResult
    init(
        _ arguments: String..., input: [String] = [], terminal: Bool = false, columns: Int = 80,
        environment: [String: String] = [:], folder: String = ""
    ) async {
        await self.init(
            arguments, input: input, terminal: terminal, columns: columns, environment: environment, folder: folder)
    }

    init(
        _ arguments: [String], input: [String] = [], terminal: Bool = false, columns: Int = 80,
        environment: [String: String] = [:], folder: String = ""
    ) async {
        let streams = Streams(input)
        code = await CommandLineTool.run(
            arguments,
            io: streams.io(terminal: terminal, columns: columns, environment: environment, folder: folder))
        output = streams.text(\.output)
        error = streams.text(\.error)
    }
}

/// Streams in memory.
final class Streams: Sendable {
    struct Content: Sendable {
        var input: [Data]
        var output = Data()
        var error = Data()
        var isClosed = false
    }

    let content: Locked<Content>

    init(_ input: [String] = []) {
        content = Locked(Content(input: input.map { Data($0.utf8) }))
    }

    func io(
        terminal: Bool = false, columns: Int = 80, environment: [String: String] = [:], folder: String = ""
    ) -> CommandIO {
        CommandIO(
            read: { [content] in content.withLock { $0.input.isEmpty ? nil : $0.input.removeFirst() } },
            write: { [content] data in
                content.withLock { content in
                    if !content.isClosed { content.output += data }
                    return content.isClosed ? .closed : .complete
                }
            },
            writeError: { [content] data in content.withLock { $0.error += data } }, outputIsTerminal: terminal,
            errorIsTerminal: terminal, columns: columns, environment: environment, folder: folder)
    }

    func text(_ path: @Sendable (Content) -> Data) -> String {
        String(decoding: content.withLock { path($0) }, as: UTF8.self)
    }
}
