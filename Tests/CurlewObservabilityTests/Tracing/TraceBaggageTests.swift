// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewObservability
import Testing

/// The rules of W3C Baggage for the field `baggage`.
@Suite(.timeLimit(.minutes(1)))
struct TraceBaggageTests {
    @Test("§3.2: keys, values and properties are read without white space")
    func grammar() {
        let baggage = TraceBaggage([
            "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey = propertyValue"
        ])
        #expect(baggage.members.map(\.key) == ["key1", "key2", "key3"])
        #expect(baggage.members.map(\.value) == ["value1", "value2", "value3"])
        #expect(baggage.members.map(\.properties) == [["property1", "property2"], [], ["propertyKey=propertyValue"]])
        #expect(
            baggage.fieldValue == "key1=value1;property1;property2,key2=value2,key3=value3;propertyKey=propertyValue")
    }

    @Test("§3.2: several fields are one list, and duplicate keys keep their order")
    func fields() {
        let baggage = TraceBaggage(["userId=alice", "serverNode=DF%2028,userId=bob"])
        #expect(baggage.members.map(\.key) == ["userId", "serverNode", "userId"])
        #expect(baggage["serverNode"] == "DF 28" && baggage["userId"] == "bob" && baggage["userid"] == nil)
    }

    @Test("§3.2.1.3: a value may contain equals signs, and be empty")
    func equals() {
        #expect(TraceBaggage(["a==b=c"])["a"] == "=b=c")
        #expect(TraceBaggage(["a="])["a"] == "")
    }

    @Test("§3.2.1.3: values are percent-encoded UTF-8; other bytes become U+FFFD")
    func coding() {
        var baggage = TraceBaggage()
        let text = "Süd, \"12\"; 100%\\ \u{1F600}=\n"
        let isSet1 = baggage.set("k", text)
        #expect(isSet1)
        #expect(baggage.fieldValue.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(!baggage.fieldValue.contains(",") && !baggage.fieldValue.contains(";"))
        #expect(TraceBaggage([baggage.fieldValue])["k"] == text)
        #expect(TraceBaggage(["k=%FF%41"])["k"] == "\u{FFFD}A")
        #expect(TraceBaggage(["k=%4"])["k"] == "%4")
    }

    @Test(
        "an invalid member is dropped, and the others are kept",
        arguments: ["", "k", "=v", "k k=v", "k=v v", "k=\"v\"", "k=v\\", "k=v;", "k=v;p p", "k=v;p=\"", "ü=v", "k=ü"])
    func invalid(member: String) {
        #expect(TraceBaggage(["a=1,\(member),b=2"]).fieldValue == "a=1,b=2")
    }

    @Test("§3.3: 64 members and 8,192 bytes are carried, and no more")
    func limits() {
        let members = (0..<65).map { "k\($0)=v" }
        #expect(TraceBaggage([members.joined(separator: ",")]).fieldValue == members.dropLast().joined(separator: ","))
        let half = String(repeating: "v", count: 4093)
        #expect(TraceBaggage(["a=\(half),b=\(half)"]).fieldValue.utf8.count == 8191)
        var baggage = TraceBaggage(["a=\(half),bb=\(half)"])
        #expect(baggage.fieldValue.utf8.count == 8192)
        let isSet2 = baggage.set("c", "")
        #expect(!isSet2 && baggage.members.count == 2)
        let isSet3 = baggage.set("bb", "")
        #expect(isSet3)
        #expect(TraceBaggage(["a=\(half),bbb=\(half),c=1"]).members.map(\.key) == ["a", "c"])
    }

    @Test("setting a key replaces it; an invalid key or property changes nothing")
    func setting() {
        var baggage = TraceBaggage(["a=1,b=2,a=3"])
        let isSet4 = baggage.set("a", "4", properties: ["ttl=30", "internal"])
        #expect(isSet4)
        #expect(baggage.fieldValue == "b=2,a=4;ttl=30;internal")
        for (key, property) in [("", "p"), ("a b", "p"), ("a", "p p"), ("a", "p;q"), ("a", " p"), ("a", "")] {
            let isSet5 = baggage.set(key, "v", properties: [property])
            #expect(!isSet5, "\(key) \(property)")
        }
        #expect(baggage.fieldValue == "b=2,a=4;ttl=30;internal")
        baggage.remove("a")
        #expect(baggage.fieldValue == "b=2")
    }
}
