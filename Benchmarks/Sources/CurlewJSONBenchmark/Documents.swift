// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation

extension Row {
    static var all: [Row] {
        let users = list(100, user)
        let many = 20_000
        let keys = (0..<many).map { "\"key\($0)\":\($0)" }
        return [
            Row("one User", User.self, user(1), bar: 4.5),
            Row("[User], 100", [User].self, users, bar: 5),
            Row("[User], 25,000", [User].self, list(25_000, user), bar: 5),
            Row("[User], all optional", [OptionalUser].self, users, bar: 4.5),
            Row("[User], one field read", [UserID].self, users, bar: 5),
            snake(list(100, snakeUser)),
            Row("{\"ok\":1} as [String: Int]", [String: Int].self, "{\"ok\":1}", bar: 4.5),
            Row("[Int], 10,000", [Int].self, list(10_000) { "\($0 &* 7_919_771 % 9_999_999_999)" }, bar: 10),
            Row("[Int32], 10,000", [Int32].self, list(10_000) { "\($0 &* 99_991)" }, bar: 8),
            Row("[Double], 16-17 digits", [Double].self, list(10_000) { "\(1 / Double($0 + 3))" }, bar: 8),
            Row("[Double], two decimals", [Double].self, list(10_000) { "\(Double($0 * 37) / 100)" }, bar: 8),
            Row("[Decimal], two decimals", [Decimal].self, list(10_000) { "\($0 * 37 / 100).\(10 + $0 % 90)" }, bar: 3),
            Row("JSONValue, 100 users", JSONValue.self, users, bar: 3),
            Row("32 keys, ten of them read", [TenOfMany].self, list(500) { _ in object(keys.prefix(32)) }, bar: 4.5),
            Row("33 keys, ten of them read", [TenOfMany].self, list(500) { _ in object(keys.prefix(33)) }, bar: 4.5),
            Row("500 keys, ten of them read", [TenOfMany].self, list(40) { _ in object(keys.prefix(500)) }, bar: 4.5),
            Row("nested 400 deep", Link.self, nested(400), bar: 3.5),
            Row("strings, mostly not ASCII", [String].self, list(2_000) { _ in quoted(cyrillic) }, bar: 2.3),
            Row("strings with escapes", [String].self, list(2_000) { _ in quoted(escapes) }, bar: 3.5),
            Row("long ASCII strings", [String].self, list(500) { _ in quoted(ascii) }, bar: 3),
            Row("[String: Int], 2,000", [String: Int].self, object(keys.prefix(2_000)), bar: 6),
            Row("hostile: 20,000 keys, one escaped", EveryKey.self, object(["\"\\u0061\":1"] + keys), bar: 1),
            Row("hostile: 20,000 keys", EveryKey.self, object(keys), bar: 1),
            Row(
                "hostile: 20,000 equal keys", EveryKey.self, object((0..<many).map { _ in "\"a\":1" }), bar: 1),
            Row("hostile: 31 keys, escaped", [EveryKey].self, list(500) { _ in object(escapedKeys) }, bar: 1),
            Row("hostile: combining marks in a key", OptionalUser.self, object(["\"a\(marks)\":1"]), bar: 10),
            Row("hostile: 20,000 failures", Lossy.self, list(many) { _ in "\"a\"" }, bar: 1),
            Row("hostile: a million digits", [Double].self, "[0.\(String(repeating: "3", count: 1_000_000))]", bar: 1),
        ]
    }

    private static func snake(_ text: String) -> Row {
        let data = Data(text.utf8)
        let slow = JSONDecoder()
        slow.keyDecodingStrategy = .convertFromSnakeCase
        let fast = FastJSONDecoder(keys: .convertFromSnakeCase)
        return Row(
            "[User], 100, snake case", data, 5, { _ = try slow.decode([SnakeUser].self, from: data) },
            { _ = try fast.decode([SnakeUser].self, from: data) })
    }

    private static func user(_ id: Int) -> String {
        """
        {"id":\(id),"firstName":"Emily","lastName":"Johnson","email":"emily\(id)@x.example.com","phone":"+81 965-431-30\
        24","age":\(20 + id % 60),"score":\(Double(id % 1_000) / 10),"isActive":\(id % 3 == 0),"company":"Dooley and Sons",\
        "tags":["admin","ops"]}
        """
    }

    private static func snakeUser(_ id: Int) -> String {
        """
        {"id":\(id),"first_name":"Emily","last_name":"Johnson","is_active":\(id % 3 == 0),"created_at":1767225600.25}
        """
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ",") + "]"
    }

    private static func object(_ members: some Sequence<String>) -> String {
        "{" + members.joined(separator: ",") + "}"
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "{\"value\":1,\"child\":", count: depth) + "null" + String(repeating: "}", count: depth)
    }

    private static func quoted(_ text: String) -> String { "\"" + text + "\"" }

    private static let marks = String(repeating: "\u{315}\u{300}", count: 5_000)
    private static let escapedKeys = (0..<31).map { "\"\\u0061\($0)\":\($0)" }
    private static let cyrillic = String(repeating: "Съешь же ещё этих мягких французских булок 漢字 ", count: 2)
    private static let escapes = String(repeating: "line\\n\\ttab \\\"quoted\\\" \\ud83d\\ude00 and text ", count: 3)
    private static let ascii = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 25)
}
