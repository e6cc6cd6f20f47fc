// SPDX-License-Identifier: MIT

import CurlewTracing
import Testing

/// The rules of W3C Trace Context (Recommendation of 23 November 2021) for `tracestate`, by section.
@Suite(.timeLimit(.minutes(1)))
struct TraceStateTests {
    private static let parent = "00-\(TraceParentTests.trace)-\(TraceParentTests.span)-01"

    private static func state(_ fields: String...) -> [String]? {
        TraceState(fields)?.members.map { "\($0.key)=\($0.value)" }
    }

    @Test("§3.3: without a valid traceparent, tracestate is not read")
    func needsParent() {
        #expect(TraceContext(headers: ["tracestate": "a=1"]) == nil)
        #expect(TraceContext(traceparent: "00-x", tracestate: ["a=1"]) == nil)
    }

    @Test("§3.3: an invalid tracestate does not affect traceparent")
    func keepsParent() {
        let context = TraceContext(headers: ["traceparent": Self.parent, "tracestate": "A=1"])
        #expect(context?.traceparent == Self.parent)
        #expect(context?.state == TraceState())
    }

    @Test("§3.3.1: the name of the field is read in any case", arguments: ["tracestate", "TraceState", "TRACESTATE"])
    func name(name: String) {
        let context = TraceContext(headers: ["traceparent": Self.parent, HTTPField.Name(name): "a=1"])
        #expect(context?.state.fieldValue() == "a=1")
    }

    @Test("§3.3.1: other names are other fields", arguments: ["trace-state", "trace.state"])
    func otherName(name: String) {
        let context = TraceContext(headers: ["traceparent": Self.parent, HTTPField.Name(name): "a=1"])
        #expect(context?.state.members.isEmpty == true)
    }

    @Test("§3.3.1.1: several fields are one list, in order")
    func severalFields() {
        var headers: HTTPHeaders = ["traceparent": Self.parent]
        for value in ["foo=1,bar=2", "rojo=1,congo=2", "baz=3"] { headers.append("tracestate", value) }
        #expect(TraceContext(headers: headers)?.state.fieldValue() == "foo=1,bar=2,rojo=1,congo=2,baz=3")
        #expect(TraceState(["foo=1", "foo=2"]) == nil, "§3.3.1.4: a key occurs once")
    }

    @Test("§3.3.1.1: white space around a member is ignored, and not sent")
    func whiteSpace() {
        #expect(TraceState(["foo=1 \t , \t bar=2, \t baz=3"])?.fieldValue() == "foo=1,bar=2,baz=3")
        #expect(TraceState(["\t foo=1 \t"])?.fieldValue() == "foo=1")
    }

    @Test(
        "§3.3.1.1: empty members and fields are accepted", arguments: ["", " ", ",", " , ,\t", "a=1,,b=2", ",a=1,b=2,"])
    func empty(field: String) {
        let state = TraceState([field, "", "c=3"])
        #expect(state?.members.last?.value == "3")
        #expect(state?.members.count == (field.contains("a") ? 3 : 1))
        #expect(TraceState(["", ""])?.fieldValue() == "", "and nothing empty is sent")
    }

    @Test("§3.3.1.1: a list has at most 32 members, and a longer one is dropped")
    func count() {
        let members = (1...33).map { "bar\($0)=\($0)" }
        let most = TraceState([members.prefix(32).joined(separator: ",") + ",,"])
        #expect(most?.members.count == 32, "empty members do not count")
        #expect(TraceState([members.joined(separator: ",")]) == nil)
        #expect(
            TraceState([members.prefix(20).joined(separator: ","), members.suffix(13).joined(separator: ",")]) == nil)
    }

    @Test(
        "§3.3.1.3.1: a key is a name (256 characters), or a tenant (241), @ and a system (14)",
        arguments: [
            "a", "abcdefghijklmnopqrstuvwxyz0123456789_-*/", "z9", "a*", String(repeating: "z", count: 256),
            "fw529a3039@dt", "0@a", "a-z0-9_-*/@a-z0-9_-*/",
            String(repeating: "t", count: 241) + "@" + String(repeating: "v", count: 14),
        ])
    func key(key: String) {
        #expect(Self.state("\(key)=1") == ["\(key)=1"])
    }

    /// §3.3.1.2: a member is a key, an equals sign and a value. §3.3.1.4: a key occurs once.
    private static let members: [String] = [
        "a", "=", "=1", "a=", "a=1=2", "a=b=c", "foo=1,foo=1", "foo=1,foo=2",
    ]
    /// §3.3.1.3.1: a simple key begins with a letter and has lower-case letters, digits and _ - * /.
    private static let keys: [String] = [
        "foo ", "FOO", "foo.bar", "1a", "_a", "-a", "*a", "/a", "a\tb", "é", "a\u{301}", "a b",
        String(repeating: "z", count: 257), "foo@", "@foo", "foo@@bar", "foo@bar@baz", "foo@1bar", "foo@Bar", "@",
        "_a@b", String(repeating: "t", count: 242) + "@v", "t@" + String(repeating: "v", count: 15),
    ].map { "\($0)=1" }

    @Test("An invalid member drops the list", arguments: members + keys)
    func invalid(member: String) {
        #expect(TraceState([member]) == nil && TraceState(["x=1,\(member),y=2"]) == nil)
    }

    @Test("§3.3.1.3.2: a value has at most 256 printable ASCII characters, no comma, no equals sign")
    func value() {
        let all = String((0x20...0x7E).map { Character(Unicode.Scalar(UInt8($0))) }.filter { $0 != "," && $0 != "=" })
        #expect(TraceState(["a=\(all)"])?.members.map(\.value) == [all])
        #expect(TraceState(["a=" + String(repeating: "v", count: 256)]) != nil)
        #expect(TraceState(["a=" + String(repeating: "v", count: 257)]) == nil)
        for bad in ["\u{7F}", "\u{1}", "é", "a\tb", "x=y"] { #expect(TraceState(["a=\(bad)"]) == nil) }
    }

    @Test("§3.3.1.3.2: spaces before a value belong to it, spaces after it do not")
    func valueSpaces() {
        #expect(TraceState(["a=  1  ,b= 2"])?.fieldValue() == "a=  1,b= 2")
        #expect(TraceState(["a=   "]) == nil, "a value of spaces only is empty")
    }

    @Test("§3.3.1.5: 512 characters are always sent")
    func keeps512() throws {
        let text = (0..<8).map { "k\($0)=" + String(repeating: "v", count: 60) }.joined(separator: ",")
        #expect(text.utf8.count == 511)
        #expect(TraceState([text])?.fieldValue() == text)
    }

    @Test("§3.3.1.5: in a longer list, long entries go first, then those at the end, always whole")
    func truncation() {
        let long = "long=" + String(repeating: "v", count: 124)
        let short = (0..<9).map { "k\($0)=" + String(repeating: "v", count: 47) }
        let state = TraceState([([long] + short).joined(separator: ",")])
        #expect(state?.fieldValue() == short.joined(separator: ","))
        #expect(state?.fieldValue(limit: 101) == short.prefix(2).joined(separator: ","))
        #expect(state?.fieldValue(limit: 100) == short[0])
        #expect(state?.fieldValue(limit: 10) == "")
        #expect(state?.fieldValue(limit: 10_000).hasPrefix(long) == true)
        let exact = "e=" + String(repeating: "v", count: 126)
        #expect(
            TraceState([exact + "," + short[0]])?.fieldValue(limit: 150) == exact, "128 characters are not too long")
    }

    @Test("§3.3.2: the examples are valid")
    func examples() {
        #expect(Self.state("rojo=00f067aa0ba902b7") == ["rojo=00f067aa0ba902b7"])
        #expect(Self.state("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")?.count == 2)
    }

    @Test("§3.3.3: the tracestate of a higher version is read")
    func higherVersion() {
        let context = TraceContext(
            traceparent: "cc-\(TraceParentTests.trace)-\(TraceParentTests.span)-01-x", tracestate: ["a=1"])
        #expect(context?.state.fieldValue() == "a=1")
    }

    @Test("Descriptions have no values")
    func descriptions() {
        let state = TraceState(["rojo=hunter2"]) ?? TraceState()
        var text = "\(state)"
        dump(state, to: &text)
        #expect(!text.contains("hunter2") && text.contains("rojo"))
    }
}
