// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCLI

/// Places in JSON bodies, and fields and items whose values are in files.
@Suite(.timeLimit(.minutes(1)))
struct JSONPathTests {
    @Test(arguments: [
        (["user[name]=x", "user[age]:=3"], #"{"user":{"name":"x","age":3}}"#),
        (["items[]=1", "items[]:=2"], #"{"items":["1",2]}"#),
        (["a[b][0]:=2", "a[b][2]=x"], #"{"a":{"b":[2,null,"x"]}}"#),
        (["rows[][id]:=1", "rows[0][n]=x", "rows[][id]:=2"], #"{"rows":[{"id":1,"n":"x"},{"id":2}]}"#),
        (["[]=a", "[]:=2"], #"["a",2]"#), (["[1][x]=a", "[0]=b"], #"["b",{"x":"a"}]"#),
        (["a[b]=1", "a[b]=2"], #"{"a":{"b":"2"}}"#), (["a:=null", "a[b]=1"], #"{"a":{"b":"1"}}"#),
        (["a:={\"b\":[]}", "a[b][]:=1"], #"{"a":{"b":[1]}}"#), ([#"a\[b\]=x"#], #"{"a[b]":"x"}"#),
        ([#"a[\0]=x"#], #"{"a":{"0":"x"}}"#), ([#"a[b\]c]=x"#], #"{"a":{"b]c":"x"}}"#),
        (["a[b c][é]=x"], #"{"a":{"b c":{"é":"x"}}}"#), (["a[b:c]=x"], ""),
    ])
    func placesAreNested(_ items: [String], _ json: String) async {
        let run = await Run(["--offline", "--print=B", "--show-secrets", "http://127.0.0.1:1/a"] + items)
        // A colon ends the name of an item, also in brackets.
        guard !json.isEmpty else {
            #expect(run.code == 2)
            return
        }
        #expect(run.code == 0 && run.output.hasSuffix("\n" + json), "\(run.output) \(run.error)")
    }

    @Test(arguments: [
        (["a[b=1"], "not closed"), (["a]b=1"], "not opened"), (["a[b]c=1"], "after a bracket"),
        (["a[b[c]]=1"], "inside another"), (["a[-1]=1"], "not an index"), (["a[10000]=1"], "not an index"),
        (["a[99999999999999999999]=1"], "not an index"), (["a=1", "a[b]=2"], "\"a\" is a text"),
        (["a[b]=1", "a[]=2"], "\"a\" is an object"), (["a[]=1", "a[b]=2"], "\"a\" is an array"),
        (["a[b][]=1", "a[b][c][d]=2"], "\"a[b]\" is an array"), (["[]=1", "a=2"], "The body is an array"),
        (["a=1", "[]=2"], "The body is an object"), (["[x]=1"], "body that is an array"),
        (["a" + String(repeating: "[b]", count: 200) + "=1"], "too many brackets"),
    ])
    func otherPlacesAreExplained(_ items: [String], _ reason: String) async {
        let run = await Run(["--offline", "http://127.0.0.1:1/a"] + items)
        #expect(run.code == 2 && run.error.contains(reason), "\(run.error) \(run.output)")
    }

    @Test(arguments: ["a:=[", "a:={", "a:=1e999", "a:=b", "a[b]:='1'", "a:=1 2"])
    func valuesThatAreNotJSONAreExplained(_ item: String) async {
        let run = await Run("--offline", "http://127.0.0.1:1/a", item)
        #expect(
            run.code == 2 && run.error.contains("is not JSON") && !run.error.contains("DecodingError"), "\(run.error)")
    }

    @Test func namesOfFormsAreTakenAsWritten() async throws {
        let run = await Run("--offline", "--form", "http://127.0.0.1:1/a", "user[name]=x", "items[]=1", "a[b=c")
        #expect(run.output.hasSuffix("user%5Bname%5D=x&items%5B%5D=1&a%5Bb=c"), "\(run.output)")
    }

    @Test func valuesAreReadFromFiles() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in .text("ok") }
        let folder = try TemporaryFolder()
        _ = try folder.file("t", "a b\n\n")
        _ = try folder.file("j.json", "{\"x\":[1]}")
        let run = await Run(
            server.url + "/a", "X-Token:@t", "q==@t", "n=@t", "o[p]:=@j.json", #"X-At:\@t"#, #"r==\@t"#, #"m=\@t"#,
            folder: folder.path)
        let request = try #require(server.requests.last, "\(run.error)")
        #expect(request.headers["X-Token"] == "a b" && request.headers["X-At"] == "@t")
        #expect(request.query("q") == "a b" && request.query("r") == "@t")
        #expect(request.text == #"{"n":"a b\n\n","o":{"p":{"x":[1]}},"m":"@t"}"#)
        for item in ["X:@missing", "q==@missing"] {
            #expect(await Run(server.url, item, folder: folder.path).code == 14)
        }
        for item in ["X:@", "q==@"] { #expect(await Run(server.url, item).code == 2) }
        _ = try folder.file("lines", "a\nX-Evil: b")
        #expect(await Run(server.url + "/a", "X:@lines", folder: folder.path).code == 2)
    }
}
