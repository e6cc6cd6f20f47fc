// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct CurlCommandsTests {
    @Test func optionsBecomeARequest() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in .text("ok") }
        func received(_ options: String) async throws -> RecordedRequest {
            let run = try await Run(["curl", "--"] + shellWords("curl \(options) \(server.url)/a"))
            #expect(run.code == 0 && run.output.hasSuffix("ok"), "\(options): \(run.error)")
            return try #require(server.requests.last)
        }
        #expect(try await received("-sS --compressed").method == .get)
        let post = try await received("-d a=1 -d 'b=2' -H 'X-A: b' -A me -e http://r.example/ -b c=d")
        #expect(post.method == .post && post.text == "a=1&b=2" && post.headers["X-A"] == "b")
        #expect(post.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(post.headers[.userAgent] == "me" && post.headers[.referer] == "http://r.example/")
        #expect(post.headers[.cookie] == "c=d")
        let json = try await received("--json '{\"a\":1}' -X PUT")
        #expect(json.method == .put && json.headers[.contentType] == "application/json" && json.text == "{\"a\":1}")
        let get = try await received("-G -d q=a -d 'r=b c' --data-urlencode 's=ä&'")
        #expect(get.method == .get && get.query["q"] == "a" && get.query["r"] == "b c" && get.query["s"] == "ä&")
        #expect(try await received("-u u:p").headers[.authorization] == "Basic dTpw")
        #expect(try await received("-F a=b -F 'c=d'").text.contains("name=\"c\""))
        #expect(try await received("-XDELETE").method == .delete)
        #expect(try await received("-H 'Accept:'").headers[.contentType] == nil)
    }

    @Test func wordsMayBeArgumentsAndOptionsOfTheCommandWin() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .redirect(to: "/b") }
        server.on(.get, "/b") { _ in .text("there") }
        #expect(await Run(["curl", "--", "curl", "-L", server.url + "/a"]).output == "there")
        #expect(await Run(["curl", "--offline", "--", "curl", server.url + "/a"]).output.hasPrefix("GET /a HTTP/1.1"))
        let warned = await Run("curl", "--", "curl", "-k", server.url + "/b")
        #expect(warned.code == 0 && warned.error.contains("certificates are verified"))
        #expect(await Run("curl", "--", "wget", "x").code == 2)
        #expect(await Run("curl", "--", "curl", "--unknown", "x").code == 2)
        #expect(await Run("curl", "--", "curl", "-H").code == 2)
    }

    @Test func bothDirectionsAgree() async throws {
        // A curl command that the command writes is read back as the same request.
        let words = ["POST", "http://h.example/a?b=c", "X-A:it's", "name=\u{e9}\n'\"$(id)`!", "X-E;"]
        let command = await Run(words + ["--curl"]).output
        let direct = await Run(words + ["--offline"]).output
        let read = try await Run(["curl", "--offline", "--"] + shellWords(command))
        #expect(read.code == 0, "\(command) \(read.error)")
        let lines = { (text: String) in Set(text.split(separator: "\n")) }
        #expect(lines(read.output) == lines(direct))
    }
}
