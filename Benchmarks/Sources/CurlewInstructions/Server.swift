// SPDX-License-Identifier: MIT

import CurlewTesting
import Foundation

/// What the client talks to, in a process of its own.
enum Server {
    /// Serves until standard input ends. Prints the port first.
    static func run() throws {
        let server = try MockServer()
        let item = #"{"id":1,"name":"a curlew"}"#
        // Late, so that the client has gone to sleep before each response: the turns of its event loop repeat then.
        server.on(.get, "/item") { _ in .json(text: item).delayed(by: .milliseconds(5)) }
        server.on(.get, "/fresh") { _ in .json(text: item).with(headers: ["Cache-Control": "max-age=86400"]) }
        let body = Data(count: 1 << 20)
        server.on(.get, "/body") { _ in .data(body) }
        server.on(.get, "/socket") { _ in
            .webSocket { peer in
                while let message = try await peer.next() {
                    // Late for the same reason.
                    try await Task.sleep(for: .milliseconds(5))
                    try peer.send(message)
                }
            }
        }
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
    }

    /// A hundred users, as JSON of 20 KB.
    static let users: String = {
        let users = (1...100).map { id in
            #"{"id":\#(id),"firstName":"Emily","lastName":"Johnson","email":"emily\#(id)@x.example.com","#
                + #""phone":"+81 965-431-3024","age":\#(20 + id % 60),"score":\#(Double(id) / 10),"#
                + #""isActive":\#(id % 3 == 0),"company":"Dooley and Sons","tags":["admin","ops"]}"#
        }
        return "[" + users.joined(separator: ",") + "]"
    }()
}
