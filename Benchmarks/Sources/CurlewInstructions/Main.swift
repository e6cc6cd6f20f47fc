// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// `CurlewInstructions` is what `Scripts/bench instructions` counts: a server, and a client that takes one path of the
/// package so many times.
@main
enum Main {
    // Not `async`: such a program ends its first thread, which Valgrind does not survive.
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments == ["serve"] { return try Server.run() }
        guard arguments.count == 3, let path = Path(rawValue: arguments[1]), let port = Int(arguments[2]),
            let calls = Int(arguments[3])
        else {
            let paths = Path.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: CurlewInstructions serve | \(paths) PORT CALLS")
            exit(2)
        }
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await path.run(calls: calls, port: port)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
            end.signal()
        }
        end.wait()
    }
}
